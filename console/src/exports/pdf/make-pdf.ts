import type { PageFrame } from "../page-frame.ts";
import type { Block } from "./content.ts";
import {
	type Fonts,
	MARGIN,
	openDocument,
	type PDFDocument,
} from "./document.ts";
import { type Style, setFont } from "./lines.ts";
import type { Strip } from "./strip.ts";
import { stripsOf } from "./strips.ts";

const BODY: Style = {
	size: 10,
	bold: false,
	italics: false,
	color: "#000000",
	leading: 1.45,
};
const SMALL: Style = { ...BODY, size: 8, color: "#495057" };

/**
 * Makes a tagged PDF: assistive technology reads its title, language, headings, paragraphs, lists,
 * tables and figures. Its pages have a head and a foot. Also returns the characters that it cannot
 * show.
 */
export async function makePdf(
	frame: PageFrame,
	content: readonly Block[],
	fonts: Fonts,
): Promise<{ pdf: Blob; missing: string[] }> {
	const doc = openDocument(frame.title, frame.isLandscape ?? false, fonts);
	const chunks: Uint8Array<ArrayBuffer>[] = [];
	const ended = new Promise<void>((resolve, reject) => {
		doc.on("data", (chunk) => chunks.push(chunk));
		doc.on("end", () => resolve());
		doc.on("error", reject);
	});
	const root = { tag: "Document", node: doc.struct("Document") };
	doc.addStructure(root.node);
	const width = doc.page.width - 2 * MARGIN.side;
	place(doc, stripsOf(content, { doc, parent: root, width, style: BODY }));
	addFrames(doc, frame);
	doc.end();
	await ended;
	return {
		pdf: new Blob(chunks, { type: "application/pdf" }),
		missing: [...doc.missing],
	};
}

/** Paints strips below each other, and adds a page when one is full. */
function place(doc: PDFDocument, strips: readonly Strip[]): void {
	const bottom = doc.page.height - MARGIN.bottom;
	let y = MARGIN.top;
	for (const [at, strip] of strips.entries()) {
		const isFirst = y === MARGIN.top;
		if (!isFirst && y + strip.above + heightFrom(strips, at) > bottom) {
			doc.addPage();
			y = MARGIN.top;
			if (strip.head) {
				strip.head.paint(MARGIN.side, y, true);
				y += strip.head.height;
			}
		} else if (!isFirst) y += strip.above;
		strip.paint(MARGIN.side, y, false);
		y += strip.height;
	}
}

/** Returns the height of a strip and of those that must be on the same page. */
function heightFrom(strips: readonly Strip[], first: number): number {
	let height = strips[first]?.height ?? 0;
	for (let at = first; strips[at]?.staysWithNext; at++) {
		const next = strips[at + 1];
		if (next) height += next.above + next.height;
	}
	return height;
}

/** Adds the head and the foot to each page. Assistive technology does not read them. */
function addFrames(doc: PDFDocument, { head, foot }: PageFrame): void {
	const { start, count } = doc.bufferedPageRange();
	for (let page = start; page < start + count; page++) {
		doc.switchToPage(page);
		const right = doc.page.width - MARGIN.side;
		const number = `${page + 1} / ${count}`;
		doc.markContent("Artifact", { type: "Pagination" });
		setFont(doc, SMALL);
		doc.fillColor(SMALL.color);
		const below = doc.page.height - MARGIN.bottom + 16;
		const words = (text: string, x: number, y: number) =>
			doc.text(doc.drawable(text), x, y, { lineBreak: false });
		words(head, MARGIN.side, 28);
		words(foot, MARGIN.side, below);
		words(number, right - doc.widthOfString(number), below);
		doc.endMarkedContent();
	}
}
