import bold from "../../fonts/roboto-bold.ttf?url";
import boldItalic from "../../fonts/roboto-bold-italic.ttf?url";
import italic from "../../fonts/roboto-italic.ttf?url";
import regular from "../../fonts/roboto-regular.ttf?url";
import { showFailure } from "../../parts/show-failure.ts";
import { saveFile } from "../../save-file.ts";
import type { PageFrame } from "../page-frame.ts";
import type { Block } from "./content.ts";
import { makePdf } from "./make-pdf.ts";

/** How many of the missing characters the message names. */
const MAX_NAMED = 3;

/**
 * Makes a PDF and saves it. Its font has Latin, Greek and Cyrillic letters. If it cannot show a
 * character, a message says so, and what to do instead.
 */
export async function savePdf(
	fileName: string,
	frame: PageFrame,
	content: readonly Block[],
	instead: string,
): Promise<void> {
	const [regularFile, boldFile, italicFile, boldItalicFile] = await Promise.all(
		[load(regular), load(bold), load(italic), load(boldItalic)],
	);
	const { pdf, missing } = await makePdf(frame, content, {
		regular: regularFile,
		bold: boldFile,
		italic: italicFile,
		boldItalic: boldItalicFile,
	});
	saveFile(fileName, pdf);
	if (missing.length > 0) {
		// The marks keep a character of a script that runs from right to left between its quotes.
		const named = missing
			.slice(0, MAX_NAMED)
			.map((sign) => `“\u2068${sign}\u2069”`)
			.join(", ");
		showFailure(
			"The PDF lacks some characters",
			`It cannot show some characters of this text, such as ${named}, and has “�” in their place. ${instead}`,
			{ stays: true },
		);
	}
}

async function load(url: string): Promise<ArrayBuffer> {
	const response = await fetch(url);
	if (!response.ok)
		throw new Error("The font of the PDF cannot be loaded. Try again.");
	return response.arrayBuffer();
}
