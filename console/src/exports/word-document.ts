import {
	AlignmentType,
	Document,
	Footer,
	Header,
	LevelFormat,
	PageNumber,
	Paragraph,
	type Table,
	TextRun,
} from "docx";
import { MAX_LEVEL, numbered } from "./markdown-docx.ts";
import type { PageFrame } from "./page-frame.ts";

/** Makes the Word document. */
export function makeDocx(
	{ title, head, foot }: PageFrame,
	children: readonly (Paragraph | Table)[],
	starts: readonly number[],
): Document {
	const small = (text: string) =>
		new TextRun({ text, size: 16, color: "495057" });
	return new Document({
		title,
		creator: head,
		styles: {
			default: { document: { run: { font: "Calibri", size: 22 } } },
		},
		numbering: {
			config: starts.map((start, list) => ({
				reference: numbered(list),
				levels: Array.from({ length: MAX_LEVEL + 1 }, (_, level) => ({
					level,
					start,
					format: LevelFormat.DECIMAL,
					text: `%${level + 1}.`,
					alignment: AlignmentType.START,
					style: {
						paragraph: {
							indent: { left: 720 * (level + 1), hanging: 360 },
						},
					},
				})),
			})),
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
}
