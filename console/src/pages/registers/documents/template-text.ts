import type { DocumentTemplate } from "../../../../../src/starters/document-template-names.ts";
import { fillTemplate } from "../../../../../src/starters/fill-template.ts";

const FOLDER = "../../../../../src/starters/documents";

/** The templates, each in a file that is loaded when somebody chooses it. */
const FILES = import.meta.glob<string>(
	"../../../../../src/starters/documents/*.md",
	{ query: "?raw", import: "default" },
);

/** Returns the text of a template with the name of the organization, as the service fills it in. */
export async function readTemplate(
	key: DocumentTemplate,
	organization: string,
): Promise<string> {
	const load = FILES[`${FOLDER}/${key}.md`];
	if (!load) throw new Error(`there is no template ${key}`);
	return fillTemplate(await load(), organization);
}
