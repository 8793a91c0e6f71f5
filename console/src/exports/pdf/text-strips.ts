import type { Text } from "./content.ts";
import {
	addElement,
	type Element,
	marked,
	type PDFDocument,
} from "./document.ts";
import { breakLines, type Line, runsOf, setFont } from "./lines.ts";
import type { Room, Strip } from "./strip.ts";

const LINK_COLOR = "#364fc7";

/** Makes a strip of each line of a text. A cell of a table has no paragraph around its text. */
export function textStrips(
	text: Text,
	element: Element,
	{ doc, width, style }: Omit<Room, "parent">,
	align?: "right",
): Strip[] {
	return breakLines(doc, runsOf(doc, text, style), width).map((line) => ({
		height: line.height,
		above: 0,
		paint: (x, y, isRepeated) =>
			paintLine(
				doc,
				line,
				align === "right" ? x + width - line.width : x,
				y,
				isRepeated ? undefined : element,
			),
	}));
}

function paintLine(
	doc: PDFDocument,
	{ pieces, height }: Line,
	left: number,
	top: number,
	element: Element | undefined,
): void {
	let x = left;
	for (const { text, run, width } of pieces) {
		const { link, isCode, size, background, strike } = run;
		const color = link ? LINK_COLOR : run.color;
		// Capital letters of the font are 0.71 times its size, and stand in the middle of the line.
		const baseline = top + (height + 0.71 * size) / 2;
		const inner =
			element && (link || isCode)
				? addElement(doc, element, link ? "Link" : "Code")
				: element;
		const [from, to] = [x, x + width];
		if (background)
			marked(doc, undefined, () =>
				doc.rect(from, top + 1, width, height - 2).fill(background),
			);
		marked(doc, inner, () => {
			setFont(doc, run);
			doc.fillColor(color).text(text, from, baseline, {
				lineBreak: false,
				baseline: "alphabetic",
			});
		});
		for (const y of [
			...(link ? [baseline + 1.5] : []),
			...(strike ? [baseline - size * 0.27] : []),
		])
			marked(doc, undefined, () =>
				doc.moveTo(from, y).lineTo(to, y).lineWidth(0.5).stroke(color),
			);
		if (link)
			doc.link(from, top, width, height, link, {
				...(inner && { structParent: inner.node }),
				Contents: new String(text.trim()),
			} as object);
		// The library notes the page of a link when its element ends.
		if (inner !== element) inner?.node.end();
		x = to;
	}
}
