import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { type Block, text } from "../../console/src/exports/pdf/content.ts";
import { makePdf } from "../../console/src/exports/pdf/make-pdf.ts";
import { markdownToPdf } from "../../console/src/exports/pdf/markdown-pdf.ts";
import { readDocument } from "../../console/src/parts/markdown/tokens.ts";
import { type Node, partsOf, readPdf, wordsOf } from "../support/read-pdf.ts";

const FRAME = { title: "Risks & <controls>", head: "Acme", foot: "Internal" };
const font = (name: string) =>
	readFile(
		new URL(`../../console/src/fonts/roboto-${name}.ttf`, import.meta.url),
	);

/** Makes a PDF and reads it. With SAVED it is also kept in that folder, to look at it. */
async function make(
	name: string,
	content: readonly Block[],
	isLandscape = false,
) {
	const { pdf, missing } = await makePdf({ ...FRAME, isLandscape }, content, {
		regular: await font("regular"),
		bold: await font("bold"),
		italic: await font("italic"),
		boldItalic: await font("bold-italic"),
	});
	const file = new Uint8Array(await pdf.arrayBuffer());
	const { SAVED } = process.env;
	if (SAVED) await writeFile(`${SAVED}/${name}.pdf`, file);
	return { file, missing, ...(await readPdf(file)) };
}

const tags = (nodes: readonly Node[]) => nodes.map(({ tag }) => tag);

const DOCUMENT = `
## Purpose

People **work** at *home* with [the portal](https://example.com/a?b=1&c=2) and \`ssh -A\`,
on a second line. Ελληνικά и русский.

### Rules

1. Lock the screen
2. Report a loss
   - at once
   - by phone

- [x] Done
- [ ] Open

> Trust is good.

| Kind | Days |
|---|---|
| Laptop | 30 |
| **Phone** | 14 |

\`\`\`
if lost:
    report
\`\`\`

---

The end.
`;

test("a PDF names its title and language, and is tagged", async () => {
	const { file, info } = await make("title", [text("Hello")]);
	expect(info).toEqual({
		title: FRAME.title,
		language: "en",
		isMarked: true,
		showsTitle: true,
	});
	// The XML copy of the title must be XML.
	expect(Buffer.from(file).toString("latin1")).toContain(
		"Risks &amp; &lt;controls>",
	);
});

test("Markdown becomes headings, paragraphs, lists, quotes, tables and code, in order", async () => {
	const { pages } = await make("document", [
		{ kind: "heading", level: 1, text: "Remote work" },
		...markdownToPdf(readDocument(DOCUMENT)),
	]);
	const [root] = pages;
	expect(root?.tag).toBe("Document");
	const parts = root?.children ?? [];
	expect(tags(parts)).toEqual("H1 H2 P H3 L L BlockQuote Table P P".split(" "));
	expect(partsOf(root, /^H\d$/).map(wordsOf)).toEqual([
		"Remote work",
		"Purpose",
		"Rules",
	]);
	expect(wordsOf(parts[2])).toBe(
		"People work at home with the portal and ssh -A, on a second line. Ελληνικά и русский.",
	);
	expect(partsOf(parts[2], /^Link$/).map(wordsOf)).toEqual(["the portal"]);
	expect(partsOf(parts[2], /^Code$/).map(wordsOf)).toEqual(["ssh -A"]);
	const [ordered, tasks] = [parts[4], parts[5]];
	expect(tags(ordered?.children ?? [])).toEqual(["LI", "LI"]);
	const [, second] = ordered?.children ?? [];
	expect(tags(second?.children ?? [])).toEqual(["Lbl", "LBody"]);
	expect(partsOf(second, /^L$/).map(wordsOf)).toEqual(["• at once • by phone"]);
	expect(wordsOf(tasks)).toBe("[x] Done [ ] Open");
	expect(wordsOf(parts[6])).toBe("Trust is good.");
	expect(partsOf(parts[7], /^TR$/).map((row) => tags(row.children))).toEqual([
		["TH", "TH"],
		["TD", "TD"],
		["TD", "TD"],
	]);
	expect(partsOf(parts[7], /^T[HD]$/).map(wordsOf)).toEqual(
		"Kind Days Laptop 30 Phone 14".split(" "),
	);
	expect(wordsOf(parts[8])).toContain("if lost:");
	expect(wordsOf(parts[8])).toContain("report");
});

test("a long table repeats its head on each page, and it is read once", async () => {
	const rows = Array.from({ length: 60 }, (_, at) => ({
		cells: [
			`R-${at + 1}`,
			`Somebody gives the password number ${at + 1} to an attacker`,
			`Access ${at + 1}`,
			`Not decided, because the owner has not answered yet (${at + 1})`,
			`${(at % 5) + 1}`,
		],
	}));
	const head = ["Id", "Risk", "Category", "Treatment", "Score"];
	const { pages, shown } = await make(
		"risks",
		[
			{ kind: "heading", level: 1, text: "Risk register" },
			{
				kind: "table",
				widths: ["auto", "*", "*", "*", "auto"],
				head: head.map((content) => ({ content })),
				rows: rows.map(({ cells }) => cells.map((content) => ({ content }))),
				hasRowHeads: true,
				style: { size: 8 },
				headStyle: { bold: true },
			},
		],
		true,
	);
	expect(pages.length).toBeGreaterThan(2);
	const heads = pages.flatMap((page) => partsOf(page, /^THead$/));
	expect(heads.flatMap((one) => partsOf(one, /^TH$/)).map(wordsOf)).toEqual(
		head,
	);
	for (const page of shown)
		for (const word of [...head, "Acme", "Internal"])
			expect(page).toContain(word);
	const read = pages
		.flatMap((page) => partsOf(page, /^TBody$/))
		.flatMap((body) => partsOf(body, /^TR$/));
	expect(read.map((row) => row.children.map(wordsOf))).toEqual(
		rows.map(({ cells }) => cells),
	);
	for (const row of read)
		expect(tags(row.children)).toEqual(["TH", "TD", "TD", "TD", "TD"]);
});

test("a row that is higher than a page continues on the next ones, with all of its words", async () => {
	const words = Array.from({ length: 1500 }, (_, at) => `word${at}`).join(" ");
	const long = "x".repeat(300);
	const { pages } = await make("high-row", [
		{
			kind: "table",
			widths: ["*", "*", "*"],
			head: [{ content: "A" }, { content: "B" }, { content: "C" }],
			rows: [[{ content: "short" }, { content: words }, { content: long }]],
		},
	]);
	expect(pages.length).toBeGreaterThan(1);
	const cells = pages.flatMap((page) => partsOf(page, /^TD$/)).map(wordsOf);
	expect(cells.join(" ").match(/word\d+/g)).toEqual(words.split(" "));
	expect(cells.join("").match(/x/g)?.length).toBe(long.length);
});

test("a figure has its alternative text, and an ornament is not read", async () => {
	const { pages } = await make("figure", [
		text("Before"),
		{
			kind: "figure",
			alt: "Pass rate rose from 60% to 80%.",
			height: 30,
			draw: (doc, width) => doc.rect(0, 0, width, 30).fill("#dbe4ff"),
		},
		{
			kind: "ornament",
			height: 10,
			draw: (doc) => doc.rect(0, 0, 70, 4).fill("#37b24d"),
		},
		text("After"),
	]);
	const [root] = pages;
	expect(tags(root?.children ?? [])).toEqual(["P", "Div", "P"]);
	expect(partsOf(root, /^Figure$/).map(({ alt }) => alt)).toEqual([
		"Pass rate rose from 60% to 80%.",
	]);
});

test("characters without a glyph are named, and their lines stay within the margins", async () => {
	const chinese = "信息安全政策".repeat(40);
	const { missing, shown, right } = await make("signs", [
		{ kind: "heading", level: 1, text: "Low → high 👩‍💻" },
		text(`שלום ✓ done ✗ open\t1\u202F000 – é “ß” Ω я`),
		{
			kind: "table",
			widths: ["auto", "*"],
			rows: [[{ content: "סיכון" }, { content: chinese }]],
		},
	]);
	expect(missing.slice(0, 5)).toEqual(["👩‍💻", "ש", "ל", "ו", "ם"]);
	expect(missing).toContain("策");
	const [all = ""] = shown;
	expect(all).toContain("Low -> high �");
	expect(all).toContain("���� √ done × open 1 000 – é “ß” Ω я".normalize());
	expect(all.match(/�/g)?.length).toBe(1 + 4 + 5 + chinese.length);
	// A page of A4 is 595 points wide and has a margin of 48 points.
	expect(right).toBeLessThanOrEqual(595.28 - 48);
});
