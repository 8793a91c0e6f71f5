/** Returns the text of a template of documents with the name of the organization in it. */
export function fillTemplate(text: string, organization: string): string {
	return text.replaceAll("[Company]", () => inMarkdown(organization));
}

/** Returns a text that Markdown shows as it is. */
function inMarkdown(text: string): string {
	return text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&");
}
