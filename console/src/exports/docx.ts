import {
	AlignmentType,
	Document,
	Footer,
	Header,
	LevelFormat,
	Packer,
	PageNumber,
	Paragraph,
	type Table,
	TextRun,
} from "docx";
import { saveFile } from "../save-file.ts";
import { MAX_LEVEL, NUMBERED } from "./markdown-docx.ts";
import type { PdfFrame } from "./pdf.ts";

/** Makes a Word document and saves it. */
export async function saveDocx(
	fileName: string,
	{ title, head, foot }: Omit<PdfFrame, "isLandscape">,
	children: readonly (Paragraph | Table)[],
): Promise<void> {
	const small = (text: string) =>
		new TextRun({ text, size: 16, color: "495057" });
	const file = new Document({
		title,
		creator: head,
		styles: {
			default: { document: { run: { font: "Calibri", size: 22 } } },
		},
		numbering: {
			config: [
				{
					reference: NUMBERED,
					levels: Array.from({ length: MAX_LEVEL + 1 }, (_, level) => ({
						level,
						format: LevelFormat.DECIMAL,
						text: `%${level + 1}.`,
						alignment: AlignmentType.START,
						style: {
							paragraph: {
								indent: { left: 720 * (level + 1), hanging: 360 },
							},
						},
					})),
				},
			],
		},
		sections: [
			{
				headers: {
					default: new Header({
						children: [new Paragraph({ children: [small(head)] })],
					}),
				},
				footers: {
					default: new Footer({
						children: [
							new Paragraph({
								children: [
									small(`${foot}    `),
									new TextRun({
										children: [
											PageNumber.CURRENT,
											" / ",
											PageNumber.TOTAL_PAGES,
										],
										size: 16,
										color: "495057",
									}),
								],
							}),
						],
					}),
				},
				children: [...children],
			},
		],
	});
	saveFile(fileName, await Packer.toBlob(file));
}
