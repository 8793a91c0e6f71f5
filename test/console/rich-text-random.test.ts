import type { JSONContent } from "@tiptap/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { markdownFrom } from "../../console/src/parts/rich-text/to-markdown.ts";
import { docOf, paragraph, read, text } from "./rich-documents.ts";

const SIGNS = [
	"#",
	"-",
	"+",
	"1.",
	"2)",
	">",
	"|",
	"---",
	"==",
	"[",
	"]",
	"(x)",
];
const words = fc
	.array(
		fc.constantFrom(
			"a",
			"Bc",
			"é。",
			"_",
			"*",
			"`",
			"~~",
			"<b>",
			"&lt;",
			"\\",
			"!",
			"[x]",
			...SIGNS,
		),
		{ minLength: 1, maxLength: 5 },
	)
	.map((some) => some.join(" "));
const plainLine = words.map((one) => [text(one)]);
const line = fc
	.tuple(words, words, fc.subarray(["bold", "italic", "strike", "code"]), words)
	.map(([before, within, marks, after]) => [
		text(`${before} `),
		text(within, ...marks),
		text(` ${after}`),
	]);
const block = fc.letrec<{ block: JSONContent; blocks: JSONContent[] }>(
	(tie) => ({
		block: fc.oneof(
			{ maxDepth: 3 },
			fc.oneof(line, plainLine).map((content) => paragraph(...content)),
			fc
				.record({ level: fc.integer({ min: 1, max: 6 }), content: line })
				.map(({ level, content }) => ({
					type: "heading",
					attrs: { level },
					content,
				})),
			words.map((content) => ({
				type: "codeBlock",
				content: [text(`${content}\n  ${content}`)],
			})),
			fc
				.array(fc.array(line, { minLength: 2, maxLength: 2 }), {
					minLength: 1,
					maxLength: 3,
				})
				.map((rows) => ({
					type: "table",
					content: rows.map((cells, row) => ({
						type: "tableRow",
						content: cells.map((content) => ({
							type: row === 0 ? "tableHeader" : "tableCell",
							content: [paragraph(...content)],
						})),
					})),
				})),
			tie("blocks").map((content) => ({ type: "blockquote", content })),
			fc
				.tuple(
					fc.constantFrom("bulletList", "orderedList"),
					fc.array(tie("blocks"), { minLength: 1, maxLength: 3 }),
				)
				.map(([type, items]) => ({
					type,
					content: items.map((content) => ({
						type: "listItem",
						content: [paragraph(text("item")), ...content],
					})),
				})),
		),
		// Two lists that touch would become one.
		blocks: fc
			.array(tie("block"), { minLength: 1, maxLength: 3 })
			.map((some) => some.flatMap((one) => [one, paragraph(text("between"))])),
	}),
).blocks;

test("whatever is written in the editor is read again as it was", () => {
	fc.assert(
		fc.property(block, (content) => {
			const doc = docOf(...content);
			expect(read(markdownFrom(doc))?.toJSON()).toEqual(doc.toJSON());
		}),
		{ numRuns: 500 },
	);
});

test("no word of any Markdown is lost in the editor", () => {
	const parts = fc.constantFrom(
		"a",
		"b c",
		" ",
		"\n",
		"\n\n",
		"*",
		"**",
		"_",
		"`",
		"```",
		"- ",
		"1. ",
		"# ",
		"> ",
		"|",
		"---",
		"~~",
		"[",
		"](http://x.y)",
		"]",
		"<b>",
		"&lt;",
		"\\",
		"  ",
		"+ ",
		"2) ",
		"[ ] ",
		"==",
		"!",
		"http://a.b/c_d",
		"é。",
		".",
	);
	fc.assert(
		fc.property(fc.array(parts, { maxLength: 14 }), (some) => {
			const doc = read(some.join(""));
			if (!doc) return;
			const wordsOf = (content: string | undefined) =>
				content?.replaceAll(/[*_~\s<>-]/g, "");
			expect(wordsOf(read(markdownFrom(doc))?.textContent)).toBe(
				wordsOf(doc.textContent),
			);
		}),
		{ numRuns: 2000 },
	);
});
