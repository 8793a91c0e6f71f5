/** A block of a document. Its texts may still contain inline Markdown. */
export type Block =
	| { type: "heading"; level: number; text: string; id: string }
	| { type: "paragraph"; text: string }
	| { type: "code"; text: string }
	| { type: "list"; isOrdered: boolean; items: Block[][] }
	| { type: "table"; head: string[]; rows: string[][] };

const ITEM = /^(?:[-*]|\d{1,3}\.) +/;
const HEADING = /^(#{1,6}) +(.*)$/;
const INDENT = /^ {4}/;

/** Returns the id of a heading, as GitHub makes it, so that links in the documents work. */
export function idOfHeading(text: string): string {
	return text
		.toLowerCase()
		.replace(/[^\p{L}\p{N} _-]/gu, "")
		.replaceAll(" ", "-");
}

/**
 * Reads the Markdown that the folder docs uses: headings, paragraphs, lists, tables, and code that is
 * indented or between fences. An image becomes nothing, because the pictures show this console.
 */
export function readBlocks(lines: readonly string[]): Block[] {
	const blocks: Block[] = [];
	let at = 0;
	const take = (isPart: (line: string) => boolean): string[] => {
		const from = at;
		while (at < lines.length && isPart(lines[at] ?? "")) at++;
		return lines.slice(from, at);
	};
	const isBlank = (line: string) => line.trim() === "";
	while (at < lines.length) {
		const line = lines[at] ?? "";
		const heading = HEADING.exec(line);
		if (isBlank(line)) {
			at++;
		} else if (heading) {
			const [, marks = "", text = ""] = heading;
			blocks.push({
				type: "heading",
				level: marks.length,
				text,
				id: idOfHeading(text),
			});
			at++;
		} else if (line.startsWith("```")) {
			at++;
			const text = take((one) => !one.startsWith("```")).join("\n");
			at++;
			blocks.push({ type: "code", text });
		} else if (INDENT.test(line)) {
			const code = take((one) => INDENT.test(one) || isBlank(one));
			const text = code.map((one) => one.replace(INDENT, "")).join("\n");
			blocks.push({ type: "code", text: text.trimEnd() });
		} else if (line.startsWith("|")) {
			const [head = "", , ...rows] = take((one) => one.startsWith("|"));
			blocks.push({
				type: "table",
				head: cellsOf(head),
				rows: rows.map(cellsOf),
			});
		} else if (ITEM.test(line)) {
			blocks.push(takeList());
		} else {
			const text = take(isText).join(" ");
			if (!/^!\[[^\]]*\]\([^)]*\)$/.test(text)) {
				blocks.push({ type: "paragraph", text });
			}
		}
	}
	return blocks;

	function isText(line: string): boolean {
		return !(
			isBlank(line) ||
			ITEM.test(line) ||
			HEADING.test(line) ||
			line.startsWith("|") ||
			line.startsWith("```")
		);
	}

	function takeList(): Block {
		const isOrdered = /^\d/.test(lines[at] ?? "");
		const items: Block[][] = [];
		while (ITEM.test(lines[at] ?? "")) {
			const first = lines[at] ?? "";
			const width = ITEM.exec(first)?.[0].length ?? 0;
			at++;
			const isInside = (line: string, index: number) =>
				line.startsWith(" ".repeat(width)) ||
				// A blank line belongs to the item if the item goes on below it.
				(isBlank(line) &&
					(lines[index + 1] ?? "").startsWith(" ".repeat(width)));
			const rest: string[] = [];
			while (at < lines.length && isInside(lines[at] ?? "", at)) {
				rest.push((lines[at] ?? "").slice(width));
				at++;
			}
			items.push(readBlocks([first.slice(width), ...rest]));
			while (isBlank(lines[at] ?? "x") && ITEM.test(lines[at + 1] ?? "")) at++;
		}
		return { type: "list", isOrdered, items };
	}
}

/** Splits a line of a table. A `|` in code, or after a backslash, separates nothing. */
function cellsOf(line: string): string[] {
	const cells = line
		.trim()
		.replace(/^\||\|$/g, "")
		.match(/(?:\\.|`[^`]*`|[^|])*(?:\||$)/g);
	return (cells ?? [])
		.map((cell) => cell.replace(/\|$/, "").replaceAll("\\|", "|").trim())
		.slice(0, -1);
}

/** A piece of a text. */
export type Inline =
	| { type: "text" | "code"; text: string }
	| { type: "strong" | "emphasis"; parts: Inline[] }
	| { type: "link"; parts: Inline[]; to: string };

const INLINE =
	/(`+)(?<code>.+?)\1|\*\*(?<strong>.+?)\*\*|\*(?<emphasis>[^*\s][^*]*)\*|\[(?<label>(?:`[^`]*`|[^\]`])*)\]\((?<to>[^)\s]*)\)|<(?<address>https?:[^>\s]+)>|\\(?<sign>[^\w\s])/g;

/** Reads code, bold and slanted text, and links. */
export function readInline(text: string): Inline[] {
	const parts: Inline[] = [];
	let from = 0;
	for (const match of text.matchAll(INLINE)) {
		if (match.index > from) {
			parts.push({ type: "text", text: text.slice(from, match.index) });
		}
		from = match.index + match[0].length;
		const { code, strong, emphasis, label, to, address, sign } =
			match.groups ?? {};
		if (code !== undefined) {
			parts.push({ type: "code", text: code.trim() });
		} else if (strong !== undefined) {
			parts.push({ type: "strong", parts: readInline(strong) });
		} else if (emphasis !== undefined) {
			parts.push({ type: "emphasis", parts: readInline(emphasis) });
		} else if (address !== undefined) {
			parts.push({
				type: "link",
				parts: [{ type: "text", text: address }],
				to: address,
			});
		} else if (sign !== undefined) {
			parts.push({ type: "text", text: sign });
		} else {
			parts.push({
				type: "link",
				parts: readInline(label ?? ""),
				to: to ?? "",
			});
		}
	}
	if (from < text.length) parts.push({ type: "text", text: text.slice(from) });
	return parts;
}
