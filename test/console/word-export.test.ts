import { Packer } from "docx";
import { expect, test } from "vitest";
import { MarkdownToDocx } from "../../console/src/exports/markdown-docx.ts";
import { makeDocx } from "../../console/src/exports/word-document.ts";
import { readDocument } from "../../console/src/parts/markdown/tokens.ts";
import { partOf, textsIn } from "../support/read-word.ts";

async function inWord(
	markdown: string,
): Promise<{ body: string; lists: string }> {
	const converter = new MarkdownToDocx();
	const children = converter.blocks(readDocument(markdown));
	const frame = { title: "T", head: "Acme", foot: "Internal" };
	const file = await Packer.toBuffer(
		makeDocx(frame, children, converter.starts),
	);
	return {
		body: partOf(file, "word/document.xml"),
		lists: partOf(file, "word/numbering.xml"),
	};
}

test("a Word document has every word of the text, wherever it stands", async () => {
	const { body } = await inWord(
		`# One

two **three** *four* ~~five~~ \`six\` [**seven** eight](https://example.com)

> nine
>
> - ten
>   - eleven
>
> \`\`\`
> twelve
> thirteen
> \`\`\`

1. fourteen

   fifteen
2. > sixteen
3. | seventeen | eighteen |
   |---|---|
   | nineteen | twenty |

- [x] done
- [ ] open

<b>html</b>
`,
	);
	const words = textsIn(body).join(" ");
	for (const word of [
		..."One two three four five six seven eight nine ten eleven twelve".split(
			" ",
		),
		..."thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
			" ",
		),
		..."twenty ☑ done ☐ open".split(" "),
	]) {
		expect(words).toContain(word);
	}
	expect(words).toContain("&lt;b&gt;");
	expect(words).not.toContain("**");
});

test("ordered lists keep their first numbers", async () => {
	const { lists } = await inWord("5. five\n6. six\n\ntext\n\n1. one\n");
	const starts = [
		...lists.matchAll(/w:lvl w:ilvl="0".*?<w:start w:val="(\d+)"/g),
	];
	expect(starts.map(([, start]) => start)).toEqual(
		expect.arrayContaining(["5", "1"]),
	);
});
