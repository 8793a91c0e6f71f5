import type { PDFDocument } from "./document.ts";

/** How a text looks. What is left out is as in the text around it. */
export interface TextStyle {
	/** Size of the letters in points. */
	size?: number;
	bold?: boolean;
	italics?: boolean;
	strike?: boolean;
	color?: string;
	/** Color behind the letters. */
	background?: string;
	/** Height of a line, as a multiple of the size. */
	leading?: number;
}

/** A part of a text with its own style. */
export interface Run extends TextStyle {
	text: string;
	link?: string;
	isCode?: boolean;
}

export type Text = string | readonly Run[];

/** Content of a PDF, which assistive technology reads in this order. */
export type Block =
	| { kind: "heading"; level: number; text: Text; style?: TextStyle }
	| Paragraph
	| { kind: "code"; text: string }
	| { kind: "list"; items: readonly ListItem[] }
	| { kind: "quote"; content: readonly Block[] }
	| { kind: "rule" }
	| Table
	| Columns
	| Figure
	| Ornament;

export interface Paragraph {
	kind: "text";
	text: Text;
	style?: TextStyle;
	align?: "right";
	/** Space below in points. */
	after?: number;
}

export interface ListItem {
	/** The bullet, number or box before the item. */
	label: string;
	content: readonly Block[];
}

/** Parts that stand beside each other on one page. */
export interface Columns {
	kind: "columns";
	columns: readonly { content: readonly Block[]; width?: number }[];
	/** Space between two columns in points. */
	gap: number;
	/** True if the columns are the items of a list, such as tiles. */
	isList?: boolean;
	/** True if a line is drawn below. */
	isRuled?: boolean;
}

/** A drawing that says something, and the words that say the same. */
export interface Figure {
	kind: "figure";
	alt: string;
	height: number;
	draw: Draw;
}

/** A drawing that says nothing beyond the words beside it. Assistive technology skips it. */
export interface Ornament {
	kind: "ornament";
	height: number;
	draw: Draw;
}

/** Draws with the corner at the top left as origin. */
type Draw = (doc: PDFDocument, width: number) => void;

export interface Table {
	kind: "table";
	/** Width of each column in points, as its content needs it ("auto"), or an equal share. */
	widths: readonly (number | "auto" | "*")[];
	/** Cells that every page repeats. They are the headings of the columns. */
	head?: readonly Cell[];
	rows: readonly (readonly Cell[])[];
	/** True if the first cell of a row is its heading. */
	hasRowHeads?: boolean;
	style?: TextStyle;
	headStyle?: TextStyle;
	/** Color behind the head. */
	headFill?: string;
}

export interface Cell {
	content: Text | readonly Block[];
	align?: "right";
}

export const isBlocks = (
	content: Text | readonly Block[],
): content is readonly Block[] =>
	typeof content !== "string" &&
	content[0] !== undefined &&
	"kind" in content[0];

/** Returns a paragraph. */
export const text = (
	words: Text,
	style: TextStyle = {},
	after = 0,
): Paragraph => ({ kind: "text", text: words, style, after });
