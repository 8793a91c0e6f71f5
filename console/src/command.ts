/**
 * The command that the operator types: `assay` in a release, and `npx assay` in a checkout. The
 * service writes it into the page.
 */
export const COMMAND =
	document.querySelector<HTMLMetaElement>('meta[name="assay-command"]')
		?.content ?? "assay";
