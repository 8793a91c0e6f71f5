import { lexer, type Token, type Tokens } from "marked";

/** Returns the id of a heading, as GitHub makes it, so that links in the documents work. */
export function idOfHeading(text: string): string {
	return text
		.toLowerCase()
		.replace(/[^\p{L}\p{N} _-]/gu, "")
		.replaceAll(" ", "-");
}

/** The parts of Markdown that the folder docs uses. */
export type Block =
	| Tokens.Heading
	| Tokens.Paragraph
	| Tokens.Text
	| Tokens.Code
	| Tokens.List
	| Tokens.Table;
export type Inline =
	| Tokens.Text
	| Tokens.Escape
	| Tokens.Codespan
	| Tokens.Strong
	| Tokens.Em
	| Tokens.Link;

/** Images show this console, so a reader of the console needs none of them. Spaces show nothing. */
const LEFT_OUT = ["space", "image"];

/** Reads a document of the folder docs. */
export function readDocument(text: string): Block[] {
	return blocksOf(lexer(text));
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
