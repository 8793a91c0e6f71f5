import { inflateRawSync } from "node:zlib";
import { Packer } from "docx";
import { expect, test } from "vitest";
import { MarkdownToDocx } from "../../console/src/exports/markdown-docx.ts";
import { makeDocx } from "../../console/src/exports/word-document.ts";
import { readDocument } from "../../console/src/parts/markdown/tokens.ts";

/** Returns a part of a Word file, which is a zip archive. */
function partOf(file: Buffer, name: string): string {
	for (let at = file.indexOf("PK\u0001\u0002"); at !== -1; ) {
		const sizes = {
			packed: file.readUInt32LE(at + 20),
			name: file.readUInt16LE(at + 28),
		};
		const found = file.toString("utf8", at + 46, at + 46 + sizes.name);
		if (found === name) {
			const local = file.readUInt32LE(at + 42);
			const begin =
				local +
				30 +
				file.readUInt16LE(local + 26) +
				file.readUInt16LE(local + 28);
			const packed = file.subarray(begin, begin + sizes.packed);
			const isPacked = file.readUInt16LE(at + 10) === 8;
			return (isPacked ? inflateRawSync(packed) : packed).toString("utf8");
		}
		at = file.indexOf("PK\u0001\u0002", at + 4);
	}
	throw new Error(`the file has no part ${name}`);
}

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

const textsIn = (xml: string) =>
	[...xml.matchAll(/<w:t(?: [^>]*)?>([^<]*)<\/w:t>/g)].map(([, text]) => text);

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
