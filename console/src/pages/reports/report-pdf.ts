import type { PageFrame } from "../../exports/page-frame.ts";
import { type Block, type Table, text } from "../../exports/pdf/content.ts";
import { savePdf } from "../../exports/pdf/save-pdf.ts";
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
		{ kind: "heading", level: 1, text: frame.title },
		...tables.flatMap((table): Block[] => [
			{ kind: "heading", level: 2, text: table.title },
			table.rows.length === 0 ? text("There are none.") : tableToPdf(table),
		]),
	]);
}

function tableToPdf(table: ReportTable): Table {
	const { columns, rows } = table;
	const cells = (row: readonly (string | number)[]) =>
		row.map((cell, at) => ({
			content: typeof cell === "number" ? cell.toLocaleString() : cell,
			...(isFigures(table, at) && { align: "right" as const }),
		}));
	return {
		kind: "table",
		widths: columns.map((_, at) => widthOf(rows, at)),
		head: cells(columns),
		rows: rows.map(cells),
		hasRowHeads: true,
		style: { size: 8 },
		headStyle: { bold: true },
	};
}

/** A column of short values takes as much room as it needs, and the others share the rest. */
function widthOf(rows: ReportTable["rows"], column: number): "auto" | "*" {
	const isShort = rows.every((cells) => String(cells[column]).length <= 12);
	return isShort ? "auto" : "*";
}
