/** The sections and controls of a framework, and how far they are met. */
export function FrameworkCoverage(_: {
	organizationId: string;
	frameworkId: string;
}) {
	return null;
}
