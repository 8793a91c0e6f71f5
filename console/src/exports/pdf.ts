import type { TDocumentDefinitions } from "pdfmake/interfaces";
import { saveFile } from "../save-file.ts";
import type { PageFrame } from "./page-frame.ts";

/** Widths of an A4 page in points, without its margins. */
const MARGIN = 48;

/**
 * Makes a PDF and saves it. Its font has Latin, Greek and Cyrillic letters. The library is loaded
 * when somebody first saves a PDF.
 */
export async function savePdf(
	fileName: string,
	{ title, head, foot, isLandscape = false }: PageFrame,
	content: TDocumentDefinitions["content"],
): Promise<void> {
	const [{ default: pdfMake }, { default: fonts }] = await Promise.all([
		import("pdfmake/build/pdfmake.min.js"),
		import("pdfmake/build/vfs_fonts.js"),
	]);
	pdfMake.addVirtualFileSystem(fonts);
	const pdf = pdfMake.createPdf({
		info: { title },
		language: "en",
		pageSize: "A4",
		pageOrientation: isLandscape ? "landscape" : "portrait",
		pageMargins: [MARGIN, 60, MARGIN, 60],
		defaultStyle: { font: "Roboto", fontSize: 10, lineHeight: 1.25 },
		header: { text: head, margin: [MARGIN, 28, MARGIN, 0], ...SMALL },
		footer: (page, pages) => ({
			columns: [
				{ text: foot, width: "*" },
				{ text: `${page} / ${pages}`, width: "auto" },
			],
			margin: [MARGIN, 12, MARGIN, 0],
			...SMALL,
		}),
		styles: {
			h1: { fontSize: 20, bold: true, margin: [0, 0, 0, 8] },
			h2: { fontSize: 15, bold: true, margin: [0, 12, 0, 4] },
			h3: { fontSize: 12, bold: true, margin: [0, 10, 0, 3] },
			h4: { fontSize: 10, bold: true, margin: [0, 8, 0, 2] },
			paragraph: { margin: [0, 0, 0, 6] },
			code: { fontSize: 9, background: "#f1f3f5", margin: [0, 0, 0, 6] },
			quote: { italics: true, margin: [12, 0, 0, 6] },
			cellHead: { bold: true, fillColor: "#f1f3f5" },
			small: { fontSize: 9, color: "#495057" },
		},
		content,
	});
	saveFile(fileName, await pdf.getBlob());
}

const SMALL = { fontSize: 8, color: "#495057" } as const;
