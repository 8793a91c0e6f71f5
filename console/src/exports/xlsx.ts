import writeXlsxFile from "write-excel-file/browser";
import { inData, type Report } from "../pages/reports/report.ts";
import { saveFile } from "../save-file.ts";

/** Longest name of a sheet that Excel takes. */
const MAX_SHEET_NAME = 31;

/**
 * Saves a report as an Excel file, with a sheet for each table, and a last one that says what the
 * report is about. Texts never become formulas.
 */
export async function saveXlsx(
	fileName: string,
	{ tables }: Report,
	about: readonly string[],
): Promise<void> {
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
			...rows.map((cells) =>
				cells
					.map(inData)
					.map((value) =>
						typeof value === "number"
							? { value, type: Number }
							: value === ""
								? null
								: { value, type: String, wrap: true },
					),
			),
		],
		sheet: title.replace(/[\\/?*[\]:]/g, " ").slice(0, MAX_SHEET_NAME),
		columns: columns.map((_, at) => ({ width: widthOf(rows, at) })),
		stickyRowsCount: 1,
	}));
	const blob = await writeXlsxFile([...sheets, aboutSheet]).toBlob();
	saveFile(fileName, blob);
}

/** Returns the width of a column in characters: its longest text, within limits. */
function widthOf(
	rows: Report["tables"][number]["rows"],
	column: number,
): number {
	const longest = Math.max(
		0,
		...rows.map((cells) => String(cells[column] ?? "").length),
	);
	return Math.min(Math.max(longest, 12), 60);
}
