import type { Token } from "marked";
import {
	type Block,
	blocksOf,
	type Inline,
	inlinesOf,
	signOfItem,
} from "./tokens.ts";

/**
 * Returns the text of Markdown without its marks, so that people who do not know Markdown can compare
 * two texts. A link keeps its address, because the address may be all that has changed.
 */
export function plainTextOf(blocks: readonly Block[]): string {
	return blocks.map(textOfBlock).join("\n\n");
}

function textOfBlock(block: Block): string {
	switch (block.type) {
		case "code":
		case "html":
			return block.text;
		case "list":
			return block.items
				.map((item, at) => {
					const text = plainTextOf(blocksOf(item.tokens));
					return `${signOfItem(block, item, at)} ${indented(text)}`;
				})
				.join("\n");
		case "blockquote":
			return `  ${indented(plainTextOf(blocksOf(block.tokens)))}`;
		case "hr":
			return "———";
		case "table":
			return [block.header, ...block.rows]
				.map((row) => row.map((cell) => words(cell.tokens)).join(" | "))
				.join("\n");
		default:
			return words(block.tokens, block.text);
	}
}

const indented = (text: string) => text.replaceAll("\n", "\n  ");

function words(tokens: readonly Token[] | undefined, plain = ""): string {
	return tokens ? inlinesOf(tokens).map(wordsOf).join("") : plain;
}

function wordsOf(part: Inline): string {
	switch (part.type) {
		case "strong":
		case "em":
		case "del":
			return words(part.tokens, part.text);
		case "br":
			return "\n";
		case "link": {
			const text = words(part.tokens, part.text);
			return text === part.href ? text : `${text} (${part.href})`;
		}
		case "codespan":
			return part.text;
		default:
			// The end of a line in the source is a space.
			return part.text.replaceAll("\n", " ");
	}
}
