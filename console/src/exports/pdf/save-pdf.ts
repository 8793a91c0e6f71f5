import bold from "../../fonts/roboto-bold.ttf?url";
import boldItalic from "../../fonts/roboto-bold-italic.ttf?url";
import italic from "../../fonts/roboto-italic.ttf?url";
import regular from "../../fonts/roboto-regular.ttf?url";
import { saveFile } from "../../save-file.ts";
import type { PageFrame } from "../page-frame.ts";
import type { Block } from "./content.ts";
import { makePdf } from "./make-pdf.ts";

/** Makes a PDF and saves it. Its font has Latin, Greek and Cyrillic letters. */
export async function savePdf(
	fileName: string,
	frame: PageFrame,
	content: readonly Block[],
): Promise<void> {
	const [regularFile, boldFile, italicFile, boldItalicFile] = await Promise.all(
		[load(regular), load(bold), load(italic), load(boldItalic)],
	);
	const pdf = await makePdf(frame, content, {
		regular: regularFile,
		bold: boldFile,
		italic: italicFile,
		boldItalic: boldItalicFile,
	});
	saveFile(fileName, pdf);
}

async function load(url: string): Promise<ArrayBuffer> {
	const response = await fetch(url);
	if (!response.ok)
		throw new Error("The font of the PDF cannot be loaded. Try again.");
	return response.arrayBuffer();
}
