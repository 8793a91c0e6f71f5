import type { Token, Tokens } from "marked";
import type { Content, ContentText } from "pdfmake/interfaces";
import {
	type Block,
	blocksOf,
	type Inline,
	inlinesOf,
} from "../parts/markdown/tokens.ts";

/** Returns Markdown as the content of a PDF. HTML is shown as text. */
export function markdownToPdf(blocks: readonly Block[]): Content[] {
	return blocks.map(blockToPdf);
}

function blockToPdf(block: Block): Content {
	switch (block.type) {
		case "heading":
			return {
				text: words(block.tokens),
				style: `h${Math.min(block.depth, 4)}`,
				headlineLevel: block.depth,
			};
		case "code":
			return { text: block.text, style: "code", preserveLeadingSpaces: true };
		case "list": {
			const items = block.items.map((item): Content => {
				const content = { stack: markdownToPdf(blocksOf(item.tokens)) };
				if (!item.task) return content;
				const box = { width: 18, text: item.checked ? "[x]" : "[ ]" };
				return { columns: [box, content] };
			});
			return block.ordered
				? { ol: items, start: Number(block.start) || 1, style: "paragraph" }
				: { ul: items, style: "paragraph" };
		}
		case "blockquote":
			return { stack: markdownToPdf(blocksOf(block.tokens)), style: "quote" };
		case "hr":
			return {
				canvas: [
					{ type: "line", x1: 0, y1: 0, x2: 499, y2: 0, lineColor: "#ced4da" },
				],
				margin: [0, 4, 0, 10],
			};
		case "table":
			return tableToPdf(block);
		case "html":
			return { text: block.text, style: "paragraph" };
		default:
			return { text: words(block.tokens, block.text), style: "paragraph" };
	}
}

function tableToPdf({ header, rows }: Tokens.Table): Content {
	const hasHead = header.some(({ text }) => text !== "");
	const head = header.map(({ tokens }) => ({
		text: words(tokens),
		style: "cellHead",
	}));
	return {
		table: {
			headerRows: hasHead ? 1 : 0,
			widths: header.map(() => "*"),
			body: [
				...(hasHead ? [head] : []),
				...rows.map((cells) =>
					cells.map(({ tokens }) => ({ text: words(tokens) })),
				),
			],
		},
		layout: "lightHorizontalLines",
		margin: [0, 0, 0, 8],
	};
}

type Style = Omit<ContentText, "text">;

/** Returns runs of text, each with its own style. The library loses the styles of nested ones. */
function words(
	tokens: readonly Token[] | undefined,
	text = "",
	style: Style = {},
): ContentText[] {
	return tokens
		? inlinesOf(tokens).flatMap((part) => runsOf(part, style))
		: [{ text, ...style }];
}

function runsOf(part: Inline, style: Style): ContentText[] {
	const inside = (more: Style) =>
		words("tokens" in part ? part.tokens : undefined, "", {
			...style,
			...more,
		});
	switch (part.type) {
		case "strong":
			return inside({ bold: true });
		case "em":
			return inside({ italics: true });
		case "del":
			return inside({ decoration: "lineThrough" });
		case "codespan":
			return [{ text: part.text, ...style, background: "#f1f3f5" }];
		case "br":
			return [{ text: "\n" }];
		case "link":
			return /^(https?:\/\/|mailto:)/i.test(part.href)
				? inside({
						link: part.href,
						color: "#364fc7",
						decoration: "underline",
					})
				: inside({});
		default:
			return [{ text: part.text, ...style }];
	}
}
