import type { PageFrame } from "../../../exports/page-frame.ts";
import { type Block, text } from "../../../exports/pdf/content.ts";
import { markdownToPdf } from "../../../exports/pdf/markdown-pdf.ts";
import { savePdf } from "../../../exports/pdf/save-pdf.ts";
import { SIGNED_BY, signedBy } from "./signed-by.ts";
import type { Version } from "./statuses.ts";
import { contentOf, factsOf } from "./version-facts.ts";

const STYLE = { size: 9, color: "#495057" };

/** Saves a version of a document as PDF, with its facts and signatures on the last page. */
export async function versionToPdf(
	fileName: string,
	frame: PageFrame,
	version: Version,
): Promise<void> {
	const blocks = contentOf(version);
	const content: Block[] = [
		{ kind: "heading", level: 1, text: version.title },
		...(blocks ? markdownToPdf(blocks) : [text(version.content)]),
		{
			kind: "heading",
			level: 2,
			text: "About this version",
			style: { size: 12 },
		},
		{
			kind: "table",
			widths: [110, "*"],
			rows: factsOf(version).map(([name, value]) => [
				{ content: name },
				{ content: value },
			]),
			hasRowHeads: true,
			style: STYLE,
		},
		...signaturesIn(await signedBy(version)),
	];
	await savePdf(
		fileName,
		frame,
		content,
		"Save the version as Word instead, or print this page.",
	);
}

function signaturesIn(signed: readonly string[][]): Block[] {
	if (signed.length === 0) return [];
	const cells = (texts: readonly string[]) =>
		texts.map((content) => ({ content }));
	return [
		{ kind: "heading", level: 2, text: "Signatures", style: { size: 12 } },
		{
			kind: "table",
			widths: ["*", "auto", "*"],
			head: cells(SIGNED_BY),
			rows: signed.map(cells),
			hasRowHeads: true,
			style: STYLE,
			headStyle: { bold: true },
		},
	];
}
