import { damaged } from "./unreadable-workbook.ts";

/** Longest tag or text between two tags, in characters. Excel writes at most 32,767 into a cell. */
const MAX_TOKEN = 1024 * 1024;

export type Token =
	| { type: "open"; name: string; attributes: string }
	| { type: "close"; name: string }
	| { type: "text"; text: string };

/** A tag with its attributes, in which `>` may stand between quotes. */
const TAG = /<(\/?)([^\s/<>"'=]+)((?:[\s/](?:[^<>"']|"[^"]*"|'[^']*')*)?)>/y;
/** An attribute right behind the one before. */
const ATTRIBUTE = /\s*([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y;

/**
 * Yields the tags and texts of a part of a workbook, for each piece of it that arrives. Names have no
 * prefix. An element without content is a tag that opens and one that closes. Throws
 * UnreadableWorkbook if the part is no XML, or if it declares entities, which no workbook needs.
 */
export async function* readTokens(
	pieces: AsyncIterable<string>,
): AsyncGenerator<Token[], void> {
	let rest = "";
	for await (const piece of pieces) {
		const { tokens, read } = tokensIn(rest + piece);
		rest = (rest + piece).slice(read);
		if (rest.length > MAX_TOKEN) throw damaged();
		yield tokens;
	}
	if (rest.trim() !== "") throw damaged();
}

/** Returns the complete tokens at the beginning of the text, and their length. */
function tokensIn(text: string): { tokens: Token[]; read: number } {
	const tokens: Token[] = [];
	let at = 0;
	for (;;) {
		const open = text.indexOf("<", at);
		if (open < 0) return { tokens, read: at };
		if (open > at) {
			tokens.push({ type: "text", text: decodeEntities(text.slice(at, open)) });
			at = open;
		}
		if (text[open + 1] === "?" || text[open + 1] === "!") {
			const end = skipSpecial(text, open, tokens);
			if (end === undefined) return { tokens, read: at };
			at = end;
			continue;
		}
		TAG.lastIndex = open;
		const tag = TAG.exec(text);
		if (!tag) return { tokens, read: at };
		at = TAG.lastIndex;
		const [, slash, prefixed = "", attributes = ""] = tag;
		const name = withoutPrefix(prefixed);
		if (slash) tokens.push({ type: "close", name });
		else {
			tokens.push({ type: "open", name, attributes });
			if (attributes.endsWith("/")) tokens.push({ type: "close", name });
		}
	}
}

/**
 * Returns the end of an instruction, a comment or a section of plain text, and undefined if it is not
 * complete. Adds the plain text to the tokens.
 */
function skipSpecial(
	text: string,
	open: number,
	tokens: Token[],
): number | undefined {
	for (const [begin, end] of [
		["<?", "?>"],
		["<!--", "-->"],
		["<![CDATA[", "]]>"],
	] as const) {
		if (begin.startsWith(text.slice(open, open + begin.length))) {
			const found = text.indexOf(end, open + begin.length);
			if (found < 0) return undefined;
			if (begin === "<![CDATA[") {
				const plain = text.slice(open + begin.length, found);
				tokens.push({ type: "text", text: plain });
			}
			return found + end.length;
		}
	}
	throw damaged();
}

/** Returns the attributes of a tag by their names without a prefix. */
export function attributesOf({ attributes }: { attributes: string }): {
	[name: string]: string | undefined;
} {
	const found: Record<string, string> = Object.create(null);
	ATTRIBUTE.lastIndex = 0;
	for (
		let next = ATTRIBUTE.exec(attributes);
		next;
		next = ATTRIBUTE.exec(attributes)
	) {
		const [, name = "", double, single] = next;
		found[withoutPrefix(name)] = decodeEntities(double ?? single ?? "");
	}
	return found;
}

/** Returns the value of an attribute. Its name has no prefix. */
export function attributeOf(
	tag: { attributes: string },
	name: string,
): string | undefined {
	return attributesOf(tag)[name];
}

/** Returns true for an attribute such as `date1904="1"`. */
export function isSet(tag: { attributes: string }, name: string): boolean {
	return /^(?:1|true|on)$/i.test(attributeOf(tag, name) ?? "");
}

function withoutPrefix(name: string): string {
	return name.slice(name.indexOf(":") + 1);
}

const ENTITIES: Readonly<Record<string, string>> = {
	amp: "&",
	lt: "<",
	gt: ">",
	quot: '"',
	apos: "'",
};

function decodeEntities(text: string): string {
	if (!text.includes("&")) return text;
	return text.replace(
		/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
		(whole, hex, decimal, name) => {
			if (name) return ENTITIES[name.toLowerCase()] ?? whole;
			const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
			return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
		},
	);
}
