import { plainTextOf } from "../../parts/markdown/plain-text.ts";
import type { Block } from "../../parts/markdown/tokens.ts";

/** Most sections that a search shows. */
export const MAX_SECTIONS = 30;
/** The characters of a section that a search shows, and those of them before the first word found. */
const EXCERPT_LENGTH = 200;
const CONTEXT_LENGTH = 60;

/** A document, by its name and title, and its text in parts. */
export interface Document {
	name: string;
	title: string;
	blocks: readonly Block[];
}

export interface Section {
	/** The document, and the heading in it. A text before the first heading has none. */
	name: string;
	title: string;
	heading?: string;
	/** The id of the heading on the page. */
	hash?: string;
	/** The text around the first word that was found. */
	excerpt: string;
}

/**
 * Finds the sections of the documents that contain all words. A section comes first if the words are
 * in its heading, or if it has a table with a row that begins with them, such as a glossary.
 */
export function findSections(
	documents: readonly Document[],
	words: string,
): Section[] {
	const wanted = wordsOf(words);
	if (wanted.length === 0) return [];
	const hasAll = (text: string) => wanted.every((word) => contains(text, word));
	const found = documents.flatMap((document) =>
		sectionsOf(document).flatMap(({ heading, hash, lines }) => {
			const { name, title } = document;
			const text = lines.join(" ");
			const names = heading ?? title;
			if (!hasAll(`${names} ${text}`)) return [];
			const row = lines.find((line) =>
				line.toLowerCase().startsWith(wanted.join(" ")),
			);
			const line =
				row ??
				lines.find(hasAll) ??
				lines.find((one) => wanted.some((word) => contains(one, word))) ??
				lines[0];
			const section: Section = {
				name,
				title,
				...(heading !== undefined && {
					heading: heading.replaceAll("`", ""),
				}),
				...(hash !== undefined && { hash }),
				excerpt: excerptOf((line ?? "").replaceAll(" | ", ": "), wanted),
			};
			return [{ section, isFirst: row !== undefined || hasAll(names) }];
		}),
	);
	return found
		.toSorted((a, b) => Number(b.isFirst) - Number(a.isFirst))
		.map(({ section }) => section);
}

const contains = (text: string, word: string) =>
	text.toLowerCase().includes(word);

/** Returns the words of a text in lower case. */
function wordsOf(text: string): string[] {
	return text
		.toLowerCase()
		.split(/\s+/)
		.filter((word) => word !== "");
}

/** The lines below a heading, or before the first one. */
interface Part {
	heading?: string;
	/** The id of the heading. */
	hash?: string;
	lines: string[];
}

/** Cuts a document at its headings. */
function sectionsOf({ blocks }: Document): Part[] {
	const sections: Part[] = [{ lines: [] }];
	for (const block of blocks) {
		if (block.type === "heading") {
			// The heading of the first level is the title of the document.
			const { depth, text: heading, id: hash } = block;
			if (depth > 1) {
				sections.push({ heading, ...(hash && { hash }), lines: [] });
			}
		} else {
			sections.at(-1)?.lines.push(...linesOf(block));
		}
	}
	return sections;
}

/** The addresses that a text has behind its links to documents. */
const ADDRESSES = / \((?:[\w-]+\.md)?(?:#[\w-]+)?\)/g;

/** Returns a line for each paragraph, item and row of a table. */
function linesOf(block: Block): string[] {
	return plainTextOf([block]).replace(ADDRESSES, "").split("\n");
}

/** Returns a part of the text in whole words that begins shortly before the first word found. */
function excerptOf(text: string, wanted: readonly string[]): string {
	const lower = text.toLowerCase();
	const places = wanted
		.map((word) => lower.indexOf(word))
		.filter((at) => at !== -1);
	const first = Math.min(...places, text.length) - CONTEXT_LENGTH;
	const start = first > 0 ? text.indexOf(" ", first) + 1 : 0;
	const rest = text.slice(start);
	const space = rest.lastIndexOf(" ", EXCERPT_LENGTH);
	const part =
		rest.length > EXCERPT_LENGTH
			? `${rest.slice(0, space > 0 ? space : EXCERPT_LENGTH)} …`
			: rest;
	return start > 0 ? `… ${part}` : part;
}
