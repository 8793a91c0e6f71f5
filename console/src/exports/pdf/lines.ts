import type { Run, Text, TextStyle } from "./content.ts";
import type { PDFDocument } from "./document.ts";

export type Style = Required<Omit<TextStyle, "background" | "strike">> &
	TextStyle;
export type StyledRun = Omit<Run, keyof TextStyle> & Style;

/** A part of a line in one style. */
export interface Piece {
	text: string;
	run: StyledRun;
	width: number;
}

export interface Line {
	pieces: Piece[];
	/** Width in points without the spaces at its end. */
	width: number;
	height: number;
}

/** Returns the parts of a text as the font can draw them, with all of their style. */
export function runsOf(
	doc: PDFDocument,
	text: Text,
	style: Style,
): StyledRun[] {
	const runs: readonly Run[] = typeof text === "string" ? [{ text }] : text;
	return runs.map((run) => ({
		...style,
		...run,
		text: doc.drawable(run.text),
	}));
}

/** Sets the font of a text, so that it can be measured or drawn. */
export function setFont(
	doc: PDFDocument,
	{ bold, italics, size }: Style,
): void {
	const name = bold
		? italics
			? "boldItalic"
			: "bold"
		: italics
			? "italic"
			: "regular";
	doc.font(name, size);
}

/** Places at which a line may end: after spaces, and after a hyphen or slash inside a word. */
const BREAKS = /(?<=\s)(?=\S)|(?<=[-/–—])(?=\p{L})/u;

/** Breaks a text into lines of at most this width. A word that is too long for a line is cut. */
export function breakLines(
	doc: PDFDocument,
	runs: readonly StyledRun[],
	maxWidth: number,
): Line[] {
	const lines: Line[] = [];
	let line: Piece[] = [];
	let used = 0;
	const measure = (text: string, run: StyledRun) => {
		setFont(doc, run);
		return doc.widthOfString(text);
	};
	const endLine = () => {
		lines.push(lineOf(line, runs, measure));
		line = [];
		used = 0;
	};
	const add = (text: string, run: StyledRun, width: number) => {
		const last = line.at(-1);
		if (last?.run === run) {
			last.text += text;
			last.width += width;
		} else line.push({ text, run, width });
		used += width;
	};
	for (const word of wordsOf(runs)) {
		if (word === "\n") {
			endLine();
			continue;
		}
		const parts = word.map(([text, run]) => ({
			text,
			run,
			width: measure(text, run),
			bare: measure(text.trimEnd(), run),
		}));
		const width =
			parts.slice(0, -1).reduce((sum, part) => sum + part.width, 0) +
			(parts.at(-1)?.bare ?? 0);
		if (used > 0 && used + width > maxWidth) endLine();
		if (width <= maxWidth) {
			for (const part of parts) add(part.text, part.run, part.width);
			continue;
		}
		for (const { text, run } of parts)
			for (const letter of text) {
				const letterWidth = measure(letter, run);
				if (used > 0 && used + letterWidth > maxWidth && letter.trim())
					endLine();
				add(letter, run, letterWidth);
			}
	}
	if (line.length > 0 || lines.length === 0) endLine();
	return lines;
}

type Word = [text: string, run: StyledRun][];

/** Returns the words with the spaces after them, and the ends of lines. A word can have two styles. */
function wordsOf(runs: readonly StyledRun[]): (Word | "\n")[] {
	const words: (Word | "\n")[] = [];
	let isOpen = false;
	for (const run of runs) {
		const [first = "", ...others] = run.text.split("\n");
		for (const [at, text] of [first, ...others].entries()) {
			if (at > 0) {
				words.push("\n");
				isOpen = false;
			}
			for (const part of text.split(BREAKS)) {
				if (part === "") continue;
				const last = words.at(-1);
				if (isOpen && Array.isArray(last)) last.push([part, run]);
				else words.push([[part, run]]);
				isOpen = !/[\s/–—-]$/.test(part);
			}
		}
	}
	return words;
}

function lineOf(
	pieces: Piece[],
	runs: readonly StyledRun[],
	measure: (text: string, run: StyledRun) => number,
): Line {
	const last = pieces.at(-1);
	const spaces = last ? last.width - measure(last.text.trimEnd(), last.run) : 0;
	const styles = pieces.length > 0 ? pieces.map(({ run }) => run) : runs;
	return {
		pieces,
		width: pieces.reduce((sum, { width }) => sum + width, 0) - spaces,
		height: Math.max(...styles.map(({ size, leading }) => size * leading)),
	};
}
