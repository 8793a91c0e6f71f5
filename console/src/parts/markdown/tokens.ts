import { lexer, type Token, type Tokens } from "marked";

/** A heading. Only one at the outer level of a document has an id, so links lead to no other. */
type Heading = Tokens.Heading & { id?: string };

/** Returns the id of the first heading with this text. */
function idOfHeading(text: string): string {
	return text
		.toLowerCase()
		.replace(/[^\p{L}\p{N} _-]/gu, "")
		.replaceAll(" ", "-");
}

/** The parts of Markdown that the console shows. Everything else is shown as its text. */
export type Block =
	| Heading
	| Tokens.Paragraph
	| Tokens.Text
	| Tokens.Code
	| Tokens.List
	| Tokens.Blockquote
	| Tokens.Hr
	| Tokens.HTML
	| Tokens.Table;
export type Inline =
	| Tokens.Text
	| Tokens.Escape
	| Tokens.Codespan
	| Tokens.Strong
	| Tokens.Em
	| Tokens.Del
	| Tokens.Br
	| Tokens.Link;

/** The box of a task belongs to its item. Images of the folder docs show this console, and images elsewhere would be fetched from strangers. */
const LEFT_OUT = ["space", "image", "checkbox"];

/**
 * Reads Markdown. The headings get ids as GitHub makes them, so that links in the documents work: the
 * second "Linux" is `linux-1`.
 */
export function readDocument(text: string): Block[] {
	const uses = new Map<string, number>();
	return blocksOf(lexer(text)).map((block) => {
		if (block.type !== "heading") return block;
		const id = idOfHeading(block.text);
		const before = uses.get(id) ?? 0;
		uses.set(id, before + 1);
		return { ...block, id: before === 0 ? id : `${id}-${before}` };
	});
}

/** Returns the blocks in the tokens, without paragraphs that show nothing. */
export function blocksOf(tokens: readonly Token[]): Block[] {
	return (tokens as Block[]).filter(
		(one) =>
			!LEFT_OUT.includes(one.type) &&
			!(one.type === "paragraph" && inlinesOf(one.tokens).length === 0),
	);
}

/** Returns the parts of a text in the tokens. */
export function inlinesOf(tokens: readonly Token[]): Inline[] {
	return (tokens as Inline[]).filter(({ type }) => !LEFT_OUT.includes(type));
}

/** Returns the sign before an item of a list, such as "2." */
export function signOfItem(
	list: Tokens.List,
	item: Tokens.ListItem,
	at: number,
): string {
	if (item.task) return item.checked ? "[x]" : "[ ]";
	return list.ordered ? `${(Number(list.start) || 1) + at}.` : "•";
}

/** Most signs of emphasis in a paragraph. The reader of Markdown takes more than linear time for them. */
const MAX_SIGNS = 1000;

/**
 * Reads the Markdown of somebody else. Returns undefined if it would take too long or nests too
 * deeply, so that its text can be shown as it is.
 */
export function readForeign(text: string): Block[] | undefined {
	const tokens = tokensOfForeign(text);
	return tokens && blocksOf(tokens);
}

/** Reads the Markdown of somebody else, and leaves nothing out. Returns undefined as `readForeign` does. */
export function tokensOfForeign(text: string): Token[] | undefined {
	const isHeavy = text
		.split(/\n[ \t]*\n/)
		.some(
			(paragraph) => paragraph.split(/[*_[]/, MAX_SIGNS + 2).length > MAX_SIGNS,
		);
	if (isHeavy) return undefined;
	try {
		return lexer(text);
	} catch {
		return undefined;
	}
}
