import { HeadingLevel, Paragraph, TextRun } from "docx";
import { saveDocx } from "../../../exports/docx.ts";
import { MarkdownToDocx } from "../../../exports/markdown-docx.ts";
import type { PageFrame } from "../../../exports/page-frame.ts";
import { signedBy } from "./signed-by.ts";
import type { Version } from "./statuses.ts";
import { contentOf, factsOf } from "./version-facts.ts";

/** Saves a version of a document as a Word document, with its facts and signatures at the end. */
export async function versionToDocx(
	fileName: string,
	frame: PageFrame,
	version: Version,
): Promise<void> {
	const blocks = contentOf(version);
	const signed = await signedBy(version);
	const markdown = new MarkdownToDocx();
	const children = [
		new Paragraph({ text: version.title, heading: HeadingLevel.TITLE }),
		...(blocks
			? markdown.blocks(blocks)
			: version.content.split("\n").map((line) => new Paragraph(line))),
		new Paragraph({
			text: "About this version",
			heading: HeadingLevel.HEADING_3,
		}),
		...factsOf(version).map(([name, value]) => line(`${name}: `, value)),
		...(signed.length > 0
			? [
					new Paragraph({
						text: "Signatures",
						heading: HeadingLevel.HEADING_3,
					}),
				]
			: []),
		...signed.map(([name = "", ...rest]) => line(`${name}: `, rest.join(", "))),
	];
	await saveDocx(fileName, frame, children, markdown.starts);
}

const line = (name: string, value: string) =>
	new Paragraph({
		children: [
			new TextRun({ text: name, bold: true, size: 18 }),
			new TextRun({ text: value, size: 18 }),
		],
	});
