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

/** Returns the name that the numbering of an ordered list has in the file. */
export const numbered = (list: number) => `numbered ${list}`;
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
	style?: "Hyperlink";
}

/** Where a block stands: how far it is indented, and the sign of the list item that it begins. */
interface Place {
	/** Twentieths of a point. */
	indent: number;
	item?: { level: number; ordered: boolean; list: number } | undefined;
}

const TOP: Place = { indent: 0 };
const QUOTE_INDENT = 400;
const LEVEL_INDENT = 720;

/** Makes paragraphs and tables of a Word document from Markdown. HTML is shown as text. */
export class MarkdownToDocx {
	/** The first numbers of the ordered lists, in the order in which the lists occur. */
	readonly starts: number[] = [];

	blocks(blocks: readonly Block[], place: Place = TOP): (Paragraph | Table)[] {
		return blocks.flatMap((block, at) =>
			// Only the first block of an item has a sign before it.
			this.#block(block, at === 0 ? place : { indent: place.indent }),
		);
	}

	#block(block: Block, place: Place): (Paragraph | Table)[] {
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
				return block.text.split("\n").map((text, at) =>
					paragraph([new TextRun({ text, font: "Consolas", size: 18 })], {
						...place,
						item: at === 0 ? place.item : undefined,
					}),
				);
			case "list":
				return [...signOnly(place), ...this.#list(block, place)];
			case "blockquote":
				return this.blocks(blocksOf(block.tokens), {
					...place,
					indent: place.indent + QUOTE_INDENT,
				});
			case "hr":
				return [
					new Paragraph({
						border: {
							bottom: { style: BorderStyle.SINGLE, size: 4, color: "CED4DA" },
						},
					}),
				];
			case "table":
				return [...signOnly(place), tableOf(block)];
			case "html":
				return [paragraph([new TextRun(block.text)], place)];
			default:
				return [paragraph(runs(block.tokens, block.text), place)];
		}
	}

	#list(list: Tokens.List, { indent }: Place): (Paragraph | Table)[] {
		const level = Math.min(Math.floor(indent / LEVEL_INDENT), MAX_LEVEL);
		if (list.ordered) this.starts.push(Number(list.start) || 1);
		const number = this.starts.length - 1;
		return list.items.flatMap((item) => {
			const place = {
				indent: indent + LEVEL_INDENT,
				item: { level, ordered: list.ordered, list: number },
			};
			const blocks = this.blocks(blocksOf(item.tokens), place);
			if (!item.task) return blocks;
			const box = item.checked ? "☑" : "☐";
			return [paragraph([new TextRun(box)], place), ...blocks];
		});
	}
}

/** A block that cannot have the sign of its item follows a paragraph that has it. */
const signOnly = (place: Place) => (place.item ? [paragraph([], place)] : []);

function paragraph(
	children: readonly ParagraphChild[],
	{ indent, item }: Place,
): Paragraph {
	return new Paragraph({
		children: [...children],
		spacing: { after: 120 },
		...(item
			? item.ordered
				? {
						numbering: {
							reference: numbered(item.list),
							level: item.level,
						},
					}
				: { bullet: { level: item.level } }
			: indent > 0 && { indent: { left: indent } }),
	});
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
							children: runs(part.tokens, part.text, {
								...style,
								style: "Hyperlink",
							}),
						}),
					]
				: runs(part.tokens, "", style);
		default:
			return [new TextRun({ text: part.text, ...style })];
	}
}
