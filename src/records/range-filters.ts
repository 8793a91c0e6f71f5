import { z } from "zod";
import type { Filter } from "./list-pages.ts";
import { dateSchema, timeSchema } from "./text-schemas.ts";

/**
 * The field with the due date of a register's records, and the field and value that mark a record
 * as done.
 */
export interface Due {
	date: string;
	done: { field: string; value: string };
}

/**
 * Returns the filters of a register whose records have a due date: is_open, due_from and due_until.
 */
export function dueFilters({ date, done }: Due): Record<string, Filter> {
	const open = `t.${done.field} <> '${done.value}'`;
	// The index for ordering by this date has the same expression. The filters can therefore use that
	// index.
	const indexed = `coalesce(t.${date}, 'infinity'::date)`;
	const schema = (which: string) =>
		dateSchema().describe(`${date} on this day or ${which}`);
	return {
		is_open: {
			schema: z
				.boolean()
				.describe(`true: not ${done.value}; false: ${done.value}`),
			sql: (parameter) => `(${open}) = ${parameter}::boolean`,
			flag: { true: open, false: `t.${done.field} = '${done.value}'` },
		},
		due_from: {
			schema: schema("later"),
			sql: (parameter) =>
				`${indexed} >= ${parameter}::date and t.${date} is not null`,
		},
		due_until: {
			schema: schema("earlier"),
			sql: (parameter) => `${indexed} <= ${parameter}::date`,
		},
	};
}

/** Returns the two filters of a datetime field: `<field>_from` and `<field>_until`. */
export function timeFilters(field: string): Record<string, Filter> {
	// The index for ordering by this time has the same expression. The filters can therefore use that
	// index.
	const indexed = `coalesce(t.${field}, 'infinity'::timestamptz)`;
	return {
		[`${field}_from`]: {
			schema: timeSchema().describe(`${field} at this time or later`),
			sql: (parameter) =>
				`${indexed} >= ${parameter}::timestamptz and t.${field} is not null`,
		},
		[`${field}_until`]: {
			schema: timeSchema().describe(`${field} before this time`),
			sql: (parameter) => `${indexed} < ${parameter}::timestamptz`,
		},
	};
}
