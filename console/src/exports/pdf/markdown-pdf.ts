import type { Token, Tokens } from "marked";
import {
	blocksOf,
	type Inline,
	inlinesOf,
	type Block as Markdown,
	signOfItem,
} from "../../parts/markdown/tokens.ts";
import { type Block, type Run, type TextStyle, text } from "./content.ts";

const AFTER = 6;

/** Returns Markdown as the content of a PDF. HTML is shown as text. */
export function markdownToPdf(blocks: readonly Markdown[]): Block[] {
	return blocks.map(blockToPdf);
}

function blockToPdf(block: Markdown): Block {
	switch (block.type) {
		case "heading":
			return { kind: "heading", level: block.depth, text: words(block.tokens) };
		case "code":
			return { kind: "code", text: block.text };
		case "list":
			return {
				kind: "list",
				items: block.items.map((item, at) => ({
					label: signOfItem(block, item, at),
					content: markdownToPdf(blocksOf(item.tokens)),
				})),
			};
		case "blockquote":
			return { kind: "quote", content: markdownToPdf(blocksOf(block.tokens)) };
		case "hr":
			return { kind: "rule" };
		case "table":
			return tableToPdf(block);
		case "html":
			return text(block.text, {}, AFTER);
		case "text":
			// The text of an item in a list without empty lines.
			return text(words(block.tokens, block.text));
		default:
			return text(words(block.tokens, block.text), {}, AFTER);
	}
}

function tableToPdf({ header, rows }: Tokens.Table): Block {
	const hasHead = header.some((cell) => cell.text !== "");
	const cells = (row: readonly Tokens.TableCell[]) =>
		row.map(({ tokens }) => ({ content: words(tokens) }));
	return {
		kind: "table",
		widths: header.map(() => "*" as const),
		...(hasHead && { head: cells(header) }),
		headStyle: { bold: true },
		rows: rows.map(cells),
	};
}

/** Returns parts of a text, each with its own style. */
function words(
	tokens: readonly Token[] | undefined,
	plain = "",
	style: Omit<Run, "text"> = {},
): Run[] {
	return tokens
		? inlinesOf(tokens).flatMap((part) => runsOf(part, style))
		: [{ text: plain, ...style }];
}

function runsOf(part: Inline, style: Omit<Run, "text">): Run[] {
	const inside = (more: TextStyle & { link?: string }) =>
		words("tokens" in part ? part.tokens : undefined, part.raw, {
			...style,
			...more,
		});
	switch (part.type) {
		case "strong":
			return inside({ bold: true });
		case "em":
			return inside({ italics: true });
		case "del":
			return inside({ strike: true });
		case "codespan":
			return [
				{ text: part.text, ...style, isCode: true, background: "#f1f3f5" },
			];
		case "br":
			return [{ text: "\n" }];
		case "link":
			return /^(https?:\/\/|mailto:)/i.test(part.href)
				? inside({ link: part.href })
				: inside({});
		default:
			// The end of a line in the source is a space.
			return [{ text: part.text.replaceAll("\n", " "), ...style }];
	}
}
