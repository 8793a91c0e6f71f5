import type { JSONContent } from "@tiptap/core";
import { SCHEMA } from "../../console/src/parts/rich-text/extensions.ts";
import { richFromMarkdown } from "../../console/src/parts/rich-text/from-markdown.ts";
import { markdownFrom } from "../../console/src/parts/rich-text/to-markdown.ts";

/** Returns the document that the editor opens, or undefined if it opens the text as Markdown. */
export function read(markdown: string) {
	const rich = richFromMarkdown(markdown);
	if (!rich) return undefined;
	const doc = SCHEMA.nodeFromJSON(rich.doc);
	doc.check();
	return doc;
}
export const written = (markdown: string) => {
	const doc = read(markdown);
	return doc && markdownFrom(doc);
};
export const docOf = (...content: JSONContent[]) =>
	SCHEMA.nodeFromJSON({ type: "doc", content });
export const text = (words: string, ...marks: string[]) => ({
	type: "text",
	text: words,
	marks: marks.map((type) => ({ type })),
});
export const paragraph = (...content: JSONContent[]) => ({
	type: "paragraph",
	content,
});
