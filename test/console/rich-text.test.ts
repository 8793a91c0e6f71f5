import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SCHEMA } from "../../console/src/parts/rich-text/extensions.ts";
import { richFromMarkdown } from "../../console/src/parts/rich-text/from-markdown.ts";
import { markdownFrom } from "../../console/src/parts/rich-text/to-markdown.ts";
import { docOf, paragraph, read, text, written } from "./rich-documents.ts";

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
	"It locks after [5] minutes, \\[5\\](no link), [30]",
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

test("a link whose address contains another link is edited as Markdown", () => {
	expect(read("](http://x.y)[](http://x.y)> ")).toBeUndefined();
	expect(read("[a](http://x.y/?b[]=c)")).toBeDefined();
});
