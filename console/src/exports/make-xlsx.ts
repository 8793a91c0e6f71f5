import writeXlsxFile from "write-excel-file/browser";
import { type Cell, inData, type Report } from "../pages/reports/report.ts";

/** Longest name of a sheet that Excel takes. */
const MAX_SHEET_NAME = 31;

/** The form of dates, which is the same for every reader. */
const DATE_FORMAT = "yyyy-mm-dd";

/**
 * Makes an Excel file of a report, with a sheet for each table, and a last one that says what the
 * report is about. Texts never become formulas.
 */
export function makeXlsx(
	{ tables }: Report,
	about: readonly string[],
): Promise<Blob> {
	const notes = tables.flatMap(({ title, note }) =>
		note ? [`${title}: ${note}`] : [],
	);
	const aboutSheet = {
		data: [...about, ...notes].map((value) => [
			{ value, type: String, wrap: true },
		]),
		sheet: "About",
		columns: [{ width: 80 }],
	};
	const sheets = tables.map(({ title, columns, rows }) => ({
		data: [
			columns.map((value) => ({
				value,
				type: String,
				fontWeight: "bold" as const,
			})),
			...rows.map((cells) => cells.map(toXlsx)),
		],
		sheet: title.replace(/[\\/?*[\]:]/g, " ").slice(0, MAX_SHEET_NAME),
		columns: columns.map((_, at) => ({ width: widthOf(rows, at) })),
		stickyRowsCount: 1,
	}));
	return writeXlsxFile([...sheets, aboutSheet]).toBlob();
}

function toXlsx(cell: Cell) {
	const value = inData(cell);
	if (value === "") return null;
	if (typeof value === "number") return { value, type: Number };
	if (typeof value === "string") return { value, type: String, wrap: true };
	// The library counts the days of Excel in UTC.
	const date = new Date(`${value.day}T00:00:00Z`);
	return { value: date, type: Date, format: DATE_FORMAT };
}

/** Returns the width of a column in characters: its longest text, within limits. */
function widthOf(
	rows: Report["tables"][number]["rows"],
	column: number,
): number {
	const longest = rows.reduce((longest, cells) => {
		const cell = cells[column] ?? "";
		const text = typeof cell === "object" ? cell.day : String(cell);
		return Math.max(longest, text.length);
	}, 0);
	return Math.min(Math.max(longest, 12), 60);
}
