/** Inherent and residual risks by likelihood and impact. */
export function RiskMatrix(_: { organizationId: string }) {
	return null;
}
