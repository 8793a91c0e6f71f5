import type { PageFrame } from "../../exports/page-frame.ts";
import {
	type Block,
	type Table,
	type Text,
	text,
} from "../../exports/pdf/content.ts";
import { savePdf } from "../../exports/pdf/save-pdf.ts";
import { boardToPdf } from "./board/board-pdf.ts";
import {
	type Cell,
	CUT,
	inWriting,
	isFigures,
	isLying,
	linesIn,
	type Report,
	type ReportTable,
} from "./report.ts";

const INSTEAD = "Print the report instead, or save it as Excel.";
const QUIET = { color: "#495057" };

/** Saves a report as PDF. A report with a wide table has lying pages. */
export async function reportToPdf(
	fileName: string,
	{ board, approval, isCut, ...report }: Report,
	frame: PageFrame,
	/** The day or the version of the report. It stands below the title. */
	about: string,
): Promise<void> {
	if (board) {
		const content = boardToPdf(board, frame.title);
		return savePdf(fileName, frame, content, INSTEAD);
	}
	const tables = report.pageTables ?? report.tables;
	const content: Block[] = [
		{ kind: "heading", level: 1, text: frame.title },
		text(about, QUIET, 4),
		...(approval ? [text(approval, QUIET, 4)] : []),
		...(isCut ? [text(CUT, QUIET, 4)] : []),
		...tables.flatMap((table): Block[] => [
			{ kind: "heading", level: 2, text: table.title },
			...(table.note && table.rows.length > 0
				? [text(table.note, QUIET, 4)]
				: []),
			table.rows.length === 0 ? text("There are none.") : tableToPdf(table),
		]),
	];
	const isLandscape = isLying(tables);
	await savePdf(fileName, { ...frame, isLandscape }, content, INSTEAD);
}

function tableToPdf(table: ReportTable): Table {
	const { columns, rows, stacked = [] } = table;
	const contentOf = (given: Cell, at: number): Text => {
		const cell = inWriting(given);
		if (typeof cell === "number") return cell.toLocaleString();
		if (!stacked.includes(at)) return cell;
		const [first, rest] = linesIn(cell);
		return [{ text: first, bold: true }, { text: rest }];
	};
	const cells = (row: readonly Cell[]) =>
		row.map((cell, at) => ({
			content: contentOf(cell, at),
			...(isFigures(table, at) && { align: "right" as const }),
		}));
	return {
		kind: "table",
		widths: columns.map((_, at) => widthOf(rows, at)),
		head: columns.map((column, at) => ({
			content: column,
			...(isFigures(table, at) && { align: "right" as const }),
		})),
		rows: rows.map(cells),
		hasRowHeads: true,
		style: { size: 8 },
		headStyle: { bold: true },
	};
}

/** A column of short values takes as much room as it needs, and the others share the rest. */
function widthOf(rows: ReportTable["rows"], column: number): "auto" | "*" {
	const isShort = rows.every((cells) =>
		String(inWriting(cells[column] ?? ""))
			.split("\n")
			.every((line) => line.length <= 12),
	);
	return isShort ? "auto" : "*";
}
