import type { Content } from "pdfmake/interfaces";
import type { PageFrame } from "../../exports/page-frame.ts";
import { savePdf } from "../../exports/pdf.ts";
import { boardToPdf } from "./board/board-pdf.ts";
import { isFigures, type Report, type ReportTable } from "./report.ts";

/** Most columns of a table that fits on an upright page. */
const MAX_UPRIGHT = 4;

/** Saves a report as PDF. A report with a wide table has lying pages. */
export async function reportToPdf(
	fileName: string,
	{ tables, board }: Report,
	frame: PageFrame,
): Promise<void> {
	if (board) return savePdf(fileName, frame, boardToPdf(board, frame.title));
	const isLandscape = tables.some(
		({ columns }) => columns.length > MAX_UPRIGHT,
	);
	await savePdf(fileName, { ...frame, isLandscape }, [
		{ text: frame.title, style: "h1" },
		...tables.flatMap((table): Content[] => [
			{ text: table.title, style: "h2" },
			table.rows.length === 0
				? { text: "There are none.", style: "paragraph" }
				: tableToPdf(table),
		]),
	]);
}

function tableToPdf(table: ReportTable): Content {
	const { columns, rows } = table;
	const alignments = columns.map((_, at) =>
		isFigures(table, at) ? ("right" as const) : ("left" as const),
	);
	return {
		table: {
			headerRows: 1,
			widths: columns.map((_, at) => widthOf(rows, at)),
			body: [
				columns.map((text, at) => ({
					text,
					style: "cellHead",
					alignment: alignments[at],
				})),
				...rows.map((cells) =>
					cells.map((cell, at) => ({
						alignment: alignments[at],
						text: typeof cell === "number" ? cell.toLocaleString() : cell,
						fontSize: 8,
					})),
				),
			],
		},
		layout: "lightHorizontalLines",
	};
}

/** A column of short values takes as much room as it needs, and the others share the rest. */
function widthOf(rows: ReportTable["rows"], column: number): "auto" | "*" {
	const isShort = rows.every((cells) => String(cells[column]).length <= 12);
	return isShort ? "auto" : "*";
}
