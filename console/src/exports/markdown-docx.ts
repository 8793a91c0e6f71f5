import {
	BorderStyle,
	ExternalHyperlink,
	HeadingLevel,
	Paragraph,
	type ParagraphChild,
	Table,
	TableCell,
	TableRow,
	TextRun,
	WidthType,
} from "docx";
import type { Token, Tokens } from "marked";
import {
	type Block,
	blocksOf,
	type Inline,
	inlinesOf,
} from "../parts/markdown/tokens.ts";

/** Name of the numbering of ordered lists in the file. */
export const NUMBERED = "numbered";
/** Deepest level of lists in the file. Deeper items have this level. */
export const MAX_LEVEL = 4;

const HEADINGS = [
	HeadingLevel.HEADING_1,
	HeadingLevel.HEADING_2,
	HeadingLevel.HEADING_3,
	HeadingLevel.HEADING_4,
];

interface Style {
	bold?: true;
	italics?: true;
	strike?: true;
}

/** Makes paragraphs and tables of a Word document from Markdown. HTML is shown as text. */
export class MarkdownToDocx {
	// Each ordered list begins with 1, so each has a number of its own.
	#lists = 0;

	blocks(blocks: readonly Block[]): (Paragraph | Table)[] {
		return blocks.flatMap((block) => this.#block(block));
	}

	#block(block: Block): (Paragraph | Table)[] {
		switch (block.type) {
			case "heading":
				return [
					new Paragraph({
						heading:
							HEADINGS[Math.min(block.depth, HEADINGS.length) - 1] ??
							HeadingLevel.HEADING_4,
						children: runs(block.tokens),
					}),
				];
			case "code":
				return block.text.split("\n").map(
					(line) =>
						new Paragraph({
							children: [
								new TextRun({ text: line, font: "Consolas", size: 18 }),
							],
							spacing: { after: 0 },
						}),
				);
			case "list":
				return this.#list(block, 0);
			case "blockquote":
				return blocksOf(block.tokens).map(
					(one) =>
						new Paragraph({
							children: runs("tokens" in one ? one.tokens : undefined),
							indent: { left: 400 },
						}),
				);
			case "hr":
				return [
					new Paragraph({
						border: {
							bottom: { style: BorderStyle.SINGLE, size: 4, color: "CED4DA" },
						},
					}),
				];
			case "table":
				return [tableOf(block)];
			case "html":
				return [new Paragraph(block.text)];
			default:
				return [
					new Paragraph({
						children: runs(block.tokens, block.text),
						spacing: { after: 120 },
					}),
				];
		}
	}

	#list(list: Tokens.List, level: number): (Paragraph | Table)[] {
		const instance = ++this.#lists;
		const place = Math.min(level, MAX_LEVEL);
		return list.items.flatMap((item) =>
			blocksOf(item.tokens).flatMap((block, at) => {
				if (block.type === "list") return this.#list(block, level + 1);
				// Only the first block of an item has a sign before it.
				if (at > 0) return this.#block(block);
				return [
					new Paragraph({
						children: runs(
							"tokens" in block ? block.tokens : undefined,
							"text" in block ? block.text : "",
						),
						...(list.ordered
							? { numbering: { reference: NUMBERED, level: place, instance } }
							: { bullet: { level: place } }),
					}),
				];
			}),
		);
	}
}

function tableOf({ header, rows }: Tokens.Table): Table {
	const row = (cells: readonly Tokens.TableCell[], isHead: boolean) =>
		new TableRow({
			tableHeader: isHead,
			children: cells.map(
				({ tokens }) =>
					new TableCell({
						children: [
							new Paragraph({
								children: runs(tokens, "", isHead ? { bold: true } : {}),
							}),
						],
					}),
			),
		});
	const hasHead = header.some(({ text }) => text !== "");
	return new Table({
		width: { size: 100, type: WidthType.PERCENTAGE },
		rows: [
			...(hasHead ? [row(header, true)] : []),
			...rows.map((cells) => row(cells, false)),
		],
	});
}

function runs(
	tokens: readonly Token[] | undefined,
	text = "",
	style: Style = {},
): ParagraphChild[] {
	if (!tokens) return [new TextRun({ text, ...style })];
	return inlinesOf(tokens).flatMap((part) => runsOf(part, style));
}

function runsOf(part: Inline, style: Style): ParagraphChild[] {
	switch (part.type) {
		case "strong":
			return runs(part.tokens, "", { ...style, bold: true });
		case "em":
			return runs(part.tokens, "", { ...style, italics: true });
		case "del":
			return runs(part.tokens, "", { ...style, strike: true });
		case "codespan":
			return [new TextRun({ text: part.text, font: "Consolas", ...style })];
		case "br":
			return [new TextRun({ break: 1 })];
		case "link":
			return /^(https?:\/\/|mailto:)/i.test(part.href)
				? [
						new ExternalHyperlink({
							link: part.href,
							children: [new TextRun({ text: part.text, style: "Hyperlink" })],
						}),
					]
				: runs(part.tokens, "", style);
		default:
			return [new TextRun({ text: part.text, ...style })];
	}
}
