import {
	BYTE_ORDER_MARK,
	toHarmless,
	writeLine,
} from "../../../../src/csv/text.ts";
import { inData, type Report } from "./report.ts";

/**
 * Writes a report as CSV. A table that only counts another one is left out, so that the file of a
 * report about one list is one table, which spreadsheets and programs can read. Other tables follow
 * each other, each with its title and its headings, and an empty line stands between them. Dates are
 * written as YYYY-MM-DD.
 */
export function toCsv({ tables: all, csvDay }: Report): string {
	const tables = all.filter(({ isCount }) => !isCount);
	const parts = tables.map(({ title, columns, rows }) =>
		[
			...(tables.length > 1 ? [[title]] : []),
			csvDay ? ["As of", ...columns] : columns,
			...rows.map((cells) =>
				(csvDay ? [csvDay, ...cells] : cells)
					.map(inData)
					.map((cell) =>
						typeof cell === "string"
							? toHarmless(cell)
							: typeof cell === "object"
								? cell.day
								: String(cell),
					),
			),
		]
			.map((cells) => writeLine(cells))
			.join(""),
	);
	return BYTE_ORDER_MARK + parts.join("\r\n");
}
