import { z } from "zod";
import { badFields } from "../errors.ts";
import { makeEventLoopYield } from "../load/event-loop-yield.ts";
import { shown } from "../validation.ts";
import { DATE_ORDERS, type DateOrder, readDay } from "./dates.ts";
import type { CsvFile, FileLine } from "./import-file.ts";

/** Longest name of a field that an error repeats, in characters. */
const MAX_NAME = 80;
/** Largest number of answers. No register has so many fields. */
const MAX_ANSWERS = 200;

/** The order of day and month, by the field of the column. */
export const dateOrders = z
	.record(z.string(), z.enum(DATE_ORDERS))
	.refine((given) => Object.keys(given).length <= MAX_ANSWERS, {
		error: `must name at most ${MAX_ANSWERS} fields`,
	});

export const dateColumn = z.object({
	field: z.string(),
	column: z.string().describe("Heading of the column"),
	value: z.string().describe("The first date that either order can mean"),
	count: z.int().describe("Number of lines with such a date"),
	order: z
		.enum(DATE_ORDERS)
		.nullable()
		.describe(
			"DMY: the day comes first; MDY: the month does, as date_orders or the column's other dates say; null: nothing says it, and the lines are wrong",
		),
});

/** The columns with dates in which the order of day and month matters, by their field. */
export type DateColumns = ReadonlyMap<string, z.output<typeof dateColumn>>;

/**
 * Returns the columns with dates such as 03/04/2026 and 31/12/2026. The second date says in which
 * order its whole column is written. If another date of the column says the opposite, or none says
 * it, the column has no order without an answer. `count` is 0 if no date needs the order of others.
 * Throws bad_request if an answer is for no field with dates.
 */
export async function findDateColumns(
	{ headings, lines }: CsvFile,
	fields: readonly string[],
	answers: Readonly<Record<string, DateOrder>> = {},
): Promise<DateColumns> {
	rejectOthers(fields, answers);
	const columns = new Map<string, z.output<typeof dateColumn>>();
	const yieldIfDue = makeEventLoopYield();
	for (const field of fields) {
		const column = headings.get(field);
		if (column === undefined) continue;
		/** Dates that only one of the orders can mean, and dates that both can. */
		const only = { DMY: 0, MDY: 0 };
		const either = { count: 0, value: "" };
		let firstOnly = "";
		for (const { cells } of lines) {
			await yieldIfDue();
			const text = cells.get(field) ?? "";
			if (!dependsOnOrder(text)) continue;
			const orders = DATE_ORDERS.filter((order) => readDay(text, order));
			const [order] = orders;
			if (order && orders.length === 1) {
				only[order] += 1;
				firstOnly ||= text.trim();
			} else {
				either.count += 1;
				either.value ||= text.trim();
			}
		}
		const isMixed = only.DMY > 0 && only.MDY > 0;
		if (either.count + only.DMY + only.MDY === 0) continue;
		const said = isMixed
			? undefined
			: DATE_ORDERS.find((order) => only[order] > 0);
		const answer = Object.hasOwn(answers, field) ? answers[field] : undefined;
		columns.set(field, {
			field,
			column,
			value: either.value || firstOnly,
			count: either.count + (isMixed ? only.DMY + only.MDY : 0),
			order: answer ?? said ?? null,
		});
	}
	return columns;
}

/** Returns true for a date that is another day, or none, if the other number is its month. */
function dependsOnOrder(text: string): boolean {
	return readDay(text, "DMY") !== readDay(text, "MDY");
}

/** Returns true if the date of a cell cannot be read before the caller gives the order. */
export function waitsForOrder(
	{ cells }: FileLine,
	field: string,
	columns: DateColumns,
): boolean {
	return (
		columns.get(field)?.order === null && dependsOnOrder(cells.get(field) ?? "")
	);
}

/** Returns the problem of a cell that is not a date in the order of its column. */
export function noDate(text: string, order: DateOrder | null): string {
	if (order === null && dependsOnOrder(text)) {
		return "needs date_orders to say whether the day or the month comes first";
	}
	const first = order === "DMY" ? "day" : "month";
	const how = dependsOnOrder(text) ? ` and the ${first} first` : "";
	return `must be a date with a year of four digits${how}, such as 2026-12-31 or 31.12.2026${shown(text.trim())}`;
}

function rejectOthers(
	fields: readonly string[],
	answers: Readonly<Record<string, DateOrder>>,
): void {
	const message =
		fields.length > 0
			? `must be a field with dates: ${fields.join(", ")}`
			: "must be left out, because this register has no fields with dates";
	const issues = Object.keys(answers)
		.filter((field) => !fields.includes(field))
		.map((field) => ({
			field: `date_orders.${field.slice(0, MAX_NAME)}`,
			message,
		}));
	if (issues.length > 0) throw badFields(issues.slice(0, 20));
}
