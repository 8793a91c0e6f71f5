import type { OutputOf } from "../../api.ts";
import type { Board } from "./board/board.ts";
import type { Period } from "./board/periods.ts";

/** A table of a report. Cells are texts or numbers, as people read them. */
export interface ReportTable {
	title: string;
	columns: readonly string[];
	rows: readonly (readonly (string | number)[])[];
	/** True if the table only counts another one. The CSV file leaves it out. */
	isCount?: true;
}

/** Content of a report, for the screen, for paper and as CSV. */
export interface Report {
	/** Subject of the report, such as the framework. */
	subject?: string;
	tables: readonly ReportTable[];
	/** True if there were more rows than a report may have. */
	isCut: boolean;
	/** The screen and the PDF show this in the place of the tables. */
	board?: Board;
}

export interface ReportInput {
	organizationId: string;
	/** A moment in the past. Undefined for now. */
	asOf: string | undefined;
	/** Id of the framework, for reports about one. */
	framework: string | undefined;
	/** Number of an approved version. Undefined for the report as it is at the moment. */
	version: number | undefined;
	/** How far back a report with a comparison looks. */
	period: Period;
}

export type Frameworks = OutputOf<"listFrameworks">["frameworks"];

/** Most rows of a report, so that a page and a printer can take them. */
export const MAX_ROWS = 2000;

/** Shown in the place of a value that a record does not have. */
export const NOTHING = "–";

const FIGURE = /^\d[\d.,]*%$/;

/** Returns true for a column of numbers or percentages, which stand on the right. */
export function isFigures({ rows }: ReportTable, column: number): boolean {
	const given = rows
		.map((cells) => cells[column])
		.filter((cell) => cell !== NOTHING);
	return (
		given.length > 0 &&
		given.every((cell) => typeof cell === "number" || FIGURE.test(cell ?? ""))
	);
}
