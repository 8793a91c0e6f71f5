import { Packer, type Paragraph, type Table } from "docx";
import { saveFile } from "../save-file.ts";
import type { PageFrame } from "./page-frame.ts";
import { makeDocx } from "./word-document.ts";

/** Makes a Word document and saves it. */
export async function saveDocx(
	fileName: string,
	frame: PageFrame,
	children: readonly (Paragraph | Table)[],
	/** The first number of each ordered list. */
	starts: readonly number[],
): Promise<void> {
	saveFile(fileName, await Packer.toBlob(makeDocx(frame, children, starts)));
}
