import { type Element, marked, type PDFDocument } from "./document.ts";
import type { Style } from "./lines.ts";

/** Color behind code and the heads of tables. */
export const FILL = "#f1f3f5";
const LINE_COLOR = "#ced4da";

/** A part of a page that is as wide as its room and never breaks, such as a line of text. */
export interface Strip {
	height: number;
	/** Space above in points. There is none at the top of a page. */
	above: number;
	/** True if the next strip must be on the same page, as after a heading. */
	staysWithNext?: boolean;
	/** Strip that a page repeats above this one if this one comes first on it. */
	head?: Strip;
	/** Draws the strip. What repeats is not read again by assistive technology. */
	paint(x: number, y: number, isRepeated: boolean): void;
}

/** Where content stands: its element, its width in points and its style. */
export interface Room {
	doc: PDFDocument;
	parent: Element;
	width: number;
	style: Style;
}

/** Draws a thin line, which assistive technology skips. */
export function drawLine(
	doc: PDFDocument,
	x: number,
	y: number,
	width: number,
): void {
	marked(doc, undefined, () =>
		doc
			.moveTo(x, y)
			.lineTo(x + width, y)
			.lineWidth(0.5)
			.stroke(LINE_COLOR),
	);
}

/** Returns the height of strips below each other. */
export function heightOf(strips: readonly Strip[]): number {
	return strips.reduce(
		(sum, { height, above }, at) => sum + height + (at > 0 ? above : 0),
		0,
	);
}

/** Paints strips below each other. */
export function paintStrips(
	strips: readonly Strip[],
	x: number,
	top: number,
	isRepeated: boolean,
): void {
	let y = top;
	for (const [at, strip] of strips.entries()) {
		if (at > 0) y += strip.above;
		strip.paint(x, y, isRepeated);
		y += strip.height;
	}
}
