/// <reference path="./fontkit.d.ts" />
import { create } from "fontkit";
import PDFKit from "pdfkit";
import { drawable } from "./signs.ts";

/** Margins of a page in points. */
export const MARGIN = { side: 48, top: 60, bottom: 60 };

/** The four styles of the font, as TrueType files. */
export interface Fonts {
	regular: ArrayBuffer | Uint8Array;
	bold: ArrayBuffer | Uint8Array;
	italic: ArrayBuffer | Uint8Array;
	boldItalic: ArrayBuffer | Uint8Array;
}

/**
 * The library writes the title into the XML of the file as it is, after it has written the other
 * copy. A title with "&" would make that XML invalid.
 */
export class PDFDocument extends PDFKit {
	/** The characters that the font does not have. */
	readonly missing = new Set<string>();
	readonly #hasGlyph: (codePoint: number) => boolean;

	constructor(options: PDFKit.PDFDocumentOptions, fonts: Fonts) {
		// Without a name, the library opens no font of its own.
		super({ ...options, font: "" });
		for (const [name, file] of Object.entries(fonts))
			this.registerFont(name, file);
		// All four fonts have the same characters.
		const font = create(new Uint8Array(fonts.regular));
		this.#hasGlyph = (codePoint) => font.hasGlyphForCodePoint(codePoint);
	}

	/** Returns a text as the font can draw it. Only this text can be measured and drawn. */
	drawable(text: string): string {
		return drawable(text, this.#hasGlyph, this.missing);
	}

	override endMetadata(): void {
		const { info } = this;
		if (info.Title)
			info.Title = info.Title.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
		super.endMetadata();
	}
}

/** Opens a tagged document with one page of A4. Its pages stay open until its end. */
export function openDocument(
	title: string,
	isLandscape: boolean,
	fonts: Fonts,
): PDFDocument {
	const options: PDFKit.PDFDocumentOptions = {
		pdfVersion: "1.7",
		tagged: true,
		lang: "en",
		displayTitle: true,
		info: { Title: title, Creator: "Assay" },
		size: "A4",
		layout: isLandscape ? "landscape" : "portrait",
		margins: {
			left: MARGIN.side,
			right: MARGIN.side,
			top: MARGIN.top,
			bottom: MARGIN.bottom,
		},
		bufferPages: true,
	};
	return new PDFDocument(options, fonts).font("regular");
}

/** An element of the structure, such as a paragraph ("P"). */
export interface Element {
	tag: string;
	node: ReturnType<PDFDocument["struct"]>;
}

/**
 * Draws something that belongs to an element. Without an element, it is an artifact, which
 * assistive technology skips. Marks cannot be nested.
 */
export function marked(
	doc: PDFDocument,
	element: Element | undefined,
	draw: () => void,
): void {
	if (!element) {
		doc.markContent("Artifact", { type: "Layout" });
		draw();
		doc.endMarkedContent();
		return;
	}
	const content = doc.markStructureContent(element.tag);
	draw();
	doc.endMarkedContent();
	element.node.add(content);
}

interface ElementOptions {
	/** Words in the place of a figure. */
	alt?: string;
	/** Which cells a heading of a table belongs to. */
	scope?: "Column" | "Row";
	/** Place on the page: left, top, right, bottom. */
	bbox?: [number, number, number, number];
}

/** Adds an element at the end of another one. */
export function addElement(
	doc: PDFDocument,
	parent: Element,
	tag: string,
	options: ElementOptions = {},
): Element {
	const node = doc.struct(tag, options);
	parent.node.add(node);
	return { tag, node };
}
