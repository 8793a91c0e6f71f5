import { readFile } from "node:fs/promises";
import type { DocumentTemplate } from "./document-template-names.ts";
import { fillTemplate } from "./fill-template.ts";

/**
 * Returns the text of a template in Markdown, with the name of the organization. What the
 * organization has to fill in stands in brackets.
 */
export async function readDocumentTemplate(
	key: DocumentTemplate,
	organization: string,
): Promise<string> {
	const file = new URL(`./documents/${key}.md`, import.meta.url);
	return fillTemplate(await readFile(file, "utf8"), organization);
}
