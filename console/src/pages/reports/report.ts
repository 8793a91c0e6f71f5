import { formatDay } from "../../parts/days.ts";
import type { Board } from "./board/board.ts";
import type { Period } from "./board/periods.ts";
import type { ReportSource } from "./report-source.ts";

/** A calendar date, as YYYY-MM-DD. */
export interface Day {
	day: string;
}

export type Cell = string | number | Day;

/** A table of a report. Cells are texts and numbers, as people read them, and dates. */
export interface ReportTable {
	title: string;
	/** Says in a sentence or two how to read the table. */
	note?: string;
	columns: readonly string[];
	/** Numbers of the columns whose cells begin with a line that says the most. It stands out. */
	stacked?: readonly number[];
	rows: readonly (readonly Cell[])[];
	/** True if the table only counts another one. The CSV file leaves it out. */
	isCount?: true;
}

/** Content of a report, for the screen, for paper and for files. */
export interface Report {
	/** Subject of the report, such as the framework. */
	subject?: string;
	/** Says who approved the report, if people approve it. The page has a section about it. */
	approval?: string;
	/** Tables with one value in a cell, for CSV and Excel. */
	tables: readonly ReportTable[];
	/** The screen and the PDF show these in the place of the tables. A cell may have several lines. */
	pageTables?: readonly ReportTable[];
	/** True if a table has only its first rows. */
	isCut: boolean;
	/** The screen and the PDF show this in the place of the tables. */
	board?: Board;
	/** The past day that the first column of the CSV file names, for a report that has no dates. */
	csvDay?: Day | undefined;
	/** Moment of the replica from which the report was read. Undefined for the primary. */
	replicaMoment?: string | undefined;
}

export interface ReportInput {
	source: ReportSource;
	organizationId: string;
	/** A moment in the past. Undefined for now. */
	asOf: string | undefined;
	/** Id of the framework, for reports about one. */
	framework: string | undefined;
	/** Number of an approved version. Undefined for the report as it is at the moment. */
	version: number | undefined;
	/** How far back a report with a comparison looks. */
	period: Period;
	/** Most rows of a table. */
	maxRows: number;
}

/** Most rows of a report on a page, so that the page and a printer can take them. */
export const MAX_ROWS = 2000;

/** Most rows of a report in a file, which the browser makes in its memory. */
export const MAX_FILE_ROWS = 50_000;

/** Said on the page and in the PDF of a report with more rows. */
export const CUT = `Only the first ${MAX_ROWS.toLocaleString()} rows are shown. The summary counts all of them, and the Excel and CSV files have up to ${MAX_FILE_ROWS.toLocaleString()}.`;

/** Said with the Excel and CSV files of a report with even more rows. */
export const FILE_CUT = `The file has only the first ${MAX_FILE_ROWS.toLocaleString()} rows. The summary counts all of them, and the CSV export of the list has them.`;

/** Shown in the place of a value that a record does not have. */
export const NOTHING = "–";

/** Returns a cell for CSV and Excel, where a value that a record does not have is an empty cell. */
export const inData = (cell: Cell) => (cell === NOTHING ? "" : cell);

/** Returns a cell for the page and the PDF, where a date is in words. */
export const inWriting = (cell: Cell) =>
	typeof cell === "object" ? formatDay(cell.day) : cell;

/** Most columns of a table that fits on an upright page. */
const MAX_UPRIGHT = 4;

/** Returns true for a report with a wide table, whose printed pages lie. */
export const isLying = (tables: readonly ReportTable[]) =>
	tables.some(({ columns }) => columns.length > MAX_UPRIGHT);

/** Divides a stacked cell into its first line and the rest, which may be empty. */
export function linesIn(cell: string): [first: string, rest: string] {
	const at = cell.indexOf("\n");
	return at < 0 ? [cell, ""] : [cell.slice(0, at), cell.slice(at)];
}

const FIGURE = /^\d[\d.,]*%$/;

/** Returns true for a column of numbers or percentages, which stand on the right. */
export function isFigures({ rows }: ReportTable, column: number): boolean {
	const given = rows
		.map((cells) => cells[column])
		.filter((cell) => cell !== NOTHING);
	return (
		given.length > 0 &&
		given.every(
			(cell) =>
				typeof cell === "number" ||
				(typeof cell === "string" && FIGURE.test(cell)),
		)
	);
}
