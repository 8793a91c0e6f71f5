import { readdirSync, readFileSync } from "node:fs";
import type { JSONContent } from "@tiptap/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SCHEMA } from "../../console/src/parts/rich-text/extensions.ts";
import { richFromMarkdown } from "../../console/src/parts/rich-text/from-markdown.ts";
import { markdownFrom } from "../../console/src/parts/rich-text/to-markdown.ts";

function read(markdown: string) {
	const rich = richFromMarkdown(markdown);
	if (!rich) return undefined;
	const doc = SCHEMA.nodeFromJSON(rich.doc);
	doc.check();
	return doc;
}
const written = (markdown: string) => {
	const doc = read(markdown);
	return doc && markdownFrom(doc);
};
const docOf = (...content: JSONContent[]) =>
	SCHEMA.nodeFromJSON({ type: "doc", content });
const text = (words: string, ...marks: string[]) => ({
	type: "text",
	text: words,
	marks: marks.map((type) => ({ type })),
});
const paragraph = (...content: JSONContent[]) => ({
	type: "paragraph",
	content,
});

test.each(
	readdirSync("src/starters/documents").filter((name) => name.endsWith(".md")),
)("the editor keeps the template %s as it is", (name) => {
	const template = readFileSync(`src/starters/documents/${name}`, "utf8");
	// The editor writes the line below the head of a table with spaces, and [5] as \[5\].
	const plain = (markdown: string | undefined) =>
		markdown
			?.trim()
			.replaceAll(/\|(?:---\|)+/g, (line) =>
				line.replaceAll("|---", "| --- ").trim(),
			)
			.replaceAll(/\\([[\]])/g, "$1");
	expect(plain(written(template))).toBe(plain(template));
});

test.each([
	"a \\* b \\_ c",
	"1\\. no list",
	"\\# no heading",
	"2 + 2\\\n\\- no list\\\n\\===",
	"# H *x* `c` #1 #\\#\n\n# \\#",
	"a\\<b>c\\</b> & d \\&lt;",
	"- a\n  - b\n    1. c\n- d",
	"> q\n>\n> - x\n\n```js\na``b\n```",
	"````\n```\n````",
	"| a | b |\n| --- | :---: |\n| x \\| y | **z** |",
	"- [ ] task\n- [x] **done**",
	"***both*** ~~gone~~ **b** *i* **`x`** [`y`](http://z)",
	"9.  nine\n10. ten",
	'<https://a.b> <ada@a.b> http\\://a.b [x](<a b> "t") [Company] has',
	"- a\n\n\n* b\n\n1. c\n\n\n1) d",
	"- > q\n- ```\n  c\n  ```",
	"a\n\n---\n\nb",
])("the editor writes %j as it was read", (markdown) => {
	expect(written(markdown)).toBe(markdown);
});

test("a text that the editor would damage is not opened in it", () => {
	for (const markdown of [
		"![a plan](plan.png)",
		"- [ ] a task\n- no task",
		"*".repeat(2000),
	]) {
		expect(richFromMarkdown(markdown)).toBeUndefined();
	}
});

test("a sign at the border of an emphasis stands outside of it, where Markdown needs that", () => {
	const doc = docOf(
		paragraph(text("重要。", "bold"), text("次 a"), text("(b)", "italic")),
	);
	const markdown = markdownFrom(doc);
	expect(markdown).toBe("**重要**。次 a(*b)*");
	expect(read(markdown)?.textContent).toBe("重要。次 a(b)");
});

test("a star in the address of a link does not end the emphasis around the link", () => {
	const doc = read("_](http://x.y)*[_");
	expect(doc?.textContent).toBe("](http://x.y)*[");
	const again = doc && read(markdownFrom(doc));
	expect(again?.textContent).toBe(doc?.textContent);
});

test("blocks that nobody changed keep their Markdown", () => {
	const markdown = "* one\n* two\n\nA line\nof text.\n\nEnd";
	const rich = richFromMarkdown(markdown);
	const doc = SCHEMA.nodeFromJSON(rich?.doc);
	const sources = new Map(
		doc.children.map((block, index) => [block, rich?.sources[index] ?? ""]),
	);
	const [list, line] = doc.children;
	const changed = docOf(
		list?.toJSON(),
		line?.toJSON(),
		paragraph(text("New end")),
	);
	expect(markdownFrom(changed)).toBe(
		"- one\n- two\n\nA line of text.\n\nNew end",
	);
	expect(
		markdownFrom(
			doc.replace(
				doc.content.size - 4,
				doc.content.size - 1,
				changed.slice(changed.content.size - 8, changed.content.size - 1),
			),
			sources,
		),
	).toBe("* one\n* two\n\nA line\nof text.\n\nNew end");
});

test("references, open code and open HTML do not keep their Markdown, which other blocks would change", () => {
	expect(richFromMarkdown("[a][r] b\n\n[r]: http://x.y")?.sources).toEqual([
		undefined,
	]);
	expect(richFromMarkdown("<!-- a")?.sources).toEqual([undefined]);
	expect(richFromMarkdown("```\na")?.sources).toEqual([undefined]);
});

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

test("a link whose address contains another link is edited as Markdown", () => {
	expect(read("](http://x.y)[](http://x.y)> ")).toBeUndefined();
	expect(read("[a](http://x.y/?b[]=c)")).toBeDefined();
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
