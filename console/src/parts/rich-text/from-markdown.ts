import type { JSONContent } from "@tiptap/core";
import type { Token, Tokens } from "marked";
import { tokensOfForeign } from "../markdown/tokens.ts";

/** A text in the form of the editor. */
export interface RichText {
	doc: JSONContent;
	/** The Markdown of each block of `doc`, if it can stay as it is while other blocks change. */
	sources: (string | undefined)[];
}

/** Something that Markdown can say and the editor cannot hold, such as an image. */
class NotRich extends Error {}

/** Reads Markdown for the editor. Returns undefined if the editor would lose a part of it. */
export function richFromMarkdown(markdown: string): RichText | undefined {
	const tokens = tokensOfForeign(markdown);
	if (!tokens) return undefined;
	// A reference to an address below the text would lose it.
	const isKept = !tokens.some(({ type }) => type === "def");
	try {
		const content: JSONContent[] = [];
		const sources: RichText["sources"] = [];
		for (const token of tokens) {
			for (const block of blocks([token])) {
				content.push(block);
				sources.push(isKept ? sourceOf(token) : undefined);
			}
		}
		if (content.length === 0) {
			content.push({ type: "paragraph" });
			sources.push(undefined);
		}
		return { doc: { type: "doc", content }, sources };
	} catch (error) {
		if (error instanceof NotRich) return undefined;
		throw error;
	}
}

/** Code and HTML may lack their end. Then they would swallow a block that is added below. */
function sourceOf({ type, raw }: Token): string | undefined {
	return ["paragraph", "heading", "list", "blockquote", "table"].includes(type)
		? raw.trimEnd()
		: undefined;
}

function blocks(tokens: readonly Token[]): JSONContent[] {
	return tokens.flatMap((token) => block(token as Tokens.Generic) ?? []);
}

function block(token: Tokens.Generic): JSONContent | undefined {
	switch (token.type) {
		case "space":
		case "def":
		case "checkbox":
			return undefined;
		case "heading":
			return {
				type: "heading",
				attrs: { level: token.depth },
				content: inlines(token.tokens),
			};
		case "code":
			return {
				type: "codeBlock",
				attrs: { language: token.lang || null },
				content: text(token.text.trimEnd(), []),
			};
		case "list":
			return list(token as Tokens.List);
		case "blockquote":
			return { type: "blockquote", content: some(blocks(token.tokens ?? [])) };
		case "hr":
			return { type: "horizontalRule" };
		case "table":
			return table(token as Tokens.Table);
		case "html":
			return paragraph(text(inOneLine(token.text), []));
		case "paragraph":
		case "text":
			return paragraph(
				token.tokens ? inlines(token.tokens) : text(inOneLine(token.text), []),
			);
		default:
			throw new NotRich();
	}
}

/** Spaces before a paragraph mean nothing. */
function paragraph([first, ...rest]: JSONContent[]): JSONContent {
	const begin =
		first?.type === "text"
			? text(first.text?.trimStart() ?? "", first.marks ?? [])
			: first
				? [first]
				: [];
	return { type: "paragraph", content: [...begin, ...rest] };
}

function list({ ordered, start, items }: Tokens.List): JSONContent {
	const isTasks = items.some(({ task }) => task);
	if (isTasks && (ordered || !items.every(({ task }) => task))) {
		throw new NotRich();
	}
	const content = items.map((item) => ({
		type: isTasks ? "taskItem" : "listItem",
		...(isTasks && { attrs: { checked: item.checked === true } }),
		content: some(blocks(item.tokens)),
	}));
	if (isTasks) return { type: "taskList", content };
	return ordered
		? { type: "orderedList", attrs: { start: Number(start) }, content }
		: { type: "bulletList", content };
}

function table({ header, rows }: Tokens.Table): JSONContent {
	return {
		type: "table",
		content: [header, ...rows].map((cells) => ({
			type: "tableRow",
			content: cells.map(({ header: isHeader, align, tokens }) => ({
				type: isHeader ? "tableHeader" : "tableCell",
				attrs: { align },
				content: [{ type: "paragraph", content: inlines(tokens) }],
			})),
		})),
	};
}

/** The editor wants a paragraph where Markdown has nothing, such as in an item without text. */
function some(content: JSONContent[]): JSONContent[] {
	return content.length > 0 ? content : [{ type: "paragraph" }];
}

type Marks = NonNullable<JSONContent["marks"]>;

function inlines(
	tokens: readonly Token[] | undefined = [],
	marks: Marks = [],
): JSONContent[] {
	return tokens.flatMap((token) => inline(token as Tokens.Generic, marks));
}

const MARKS: Record<string, string> = {
	strong: "bold",
	em: "italic",
	del: "strike",
};

function inline(token: Tokens.Generic, marks: Marks): JSONContent[] {
	switch (token.type) {
		case "checkbox":
			return [];
		case "strong":
		case "em":
		case "del":
			return inlines(
				token.tokens,
				withMark(marks, { type: MARKS[token.type] as string }),
			);
		case "link":
			// Written back, such an address would end the link too early.
			if (token.href.includes("](")) throw new NotRich();
			return inlines(
				token.tokens,
				withMark(marks, {
					type: "link",
					attrs: { href: token.href, title: token.title ?? null },
				}),
			);
		case "codespan":
			return text(inOneLine(token.text), [...marks, { type: "code" }]);
		case "br":
			return [{ type: "hardBreak" }];
		case "text":
		case "escape":
		case "html":
			return text(inOneLine(token.text), marks);
		default:
			throw new NotRich();
	}
}

function withMark(marks: Marks, added: Marks[number]): Marks {
	return marks.some(({ type }) => type === added.type)
		? marks
		: [...marks, added];
}

function text(content: string, marks: Marks): JSONContent[] {
	return content === "" ? [] : [{ type: "text", text: content, marks }];
}

/** Lines of one paragraph are shown as one line. */
export function inOneLine(content: string): string {
	const lines = content.split("\n");
	return lines
		.map((line, index) => {
			const begun = index === 0 ? line : line.trimStart();
			return index === lines.length - 1 ? begun : begun.trimEnd();
		})
		.join(" ");
}
