import { markdownToPdf } from "../../../exports/markdown-pdf.ts";
import type { PageFrame } from "../../../exports/page-frame.ts";
import { savePdf } from "../../../exports/pdf.ts";
import type { Version } from "./statuses.ts";
import { contentOf, factsOf } from "./version-facts.ts";

/** Saves a version of a document as PDF, with its facts on the last page. */
export async function versionToPdf(
	fileName: string,
	frame: PageFrame,
	version: Version,
): Promise<void> {
	const blocks = contentOf(version);
	await savePdf(fileName, frame, [
		{ text: version.title, style: "h1" },
		...(blocks
			? markdownToPdf(blocks)
			: [{ text: version.content, style: "paragraph" }]),
		{ text: "About this version", style: "h3" },
		{
			table: {
				widths: [110, "*"],
				body: factsOf(version).map(([name, value]) => [
					{ text: name, style: "small" },
					{ text: value, style: "small" },
				]),
			},
			layout: "lightHorizontalLines",
		},
	]);
}
