/**
 * Escapes text for XML. `checkSpec` has already rejected control characters, which XML cannot hold.
 */
export const escapeXml = (text: string) =>
	text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;")
		.replaceAll('"', "&quot;")
		.replaceAll("'", "&apos;");
