import { z } from "zod";
import { orInfinity } from "./date-or-infinity.ts";
import type { Filter } from "./filter.ts";
import type { Order } from "./list-pages.ts";
import { described, obvious, type Shown } from "./shown-in-tool-list.ts";
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
 * `choices` are all values of the field `done.field`.
 */
export function dueFilters(
	{ date, done }: Due,
	choices: readonly string[],
): Record<string, Filter> {
	// PostgreSQL looks these values up in an index. For `<>` it would also read all that are done.
	const others = choices.filter((choice) => choice !== done.value);
	const open = `t.${done.field} in (${others.map((choice) => `'${choice}'`).join(", ")})`;
	const { [`${date}_from`]: from, [`${date}_until`]: until } =
		dateFilters(date);
	if (!from || !until)
		throw new Error(`the date ${date} must have the filters _from and _until`);
	return {
		is_open: {
			isInOrders: true,
			schema: z
				.boolean()
				.meta(obvious(`true: not ${done.value}; false: ${done.value}`)),
			sql: (parameter) => `(${open}) = ${parameter}::boolean`,
			flag: { true: open, false: `t.${done.field} = '${done.value}'` },
		},
		due_from: from,
		due_until: until,
	};
}

/**
 * Orders by the due date, with the records that are done last. Open records without a due date stand
 * before them.
 */
export function openFirst({ date, done }: Due): Order {
	const expression = `case when t.${done.field} = '${done.value}' then 'infinity'::date when t.${date} is null then '9999-12-31'::date else t.${date} end`;
	return {
		expression,
		type: "date",
		direction: "ASC",
		implied: (filter, parameter) => {
			const from = filter.due_from ?? filter[`${date}_from`];
			const conditions =
				from === undefined ? [] : [`${expression} >= ${parameter(from)}::date`];
			const values = [filter[done.field] ?? []].flat();
			const hasDone = values.includes(done.value);
			const isOnlyDone = values.every((value) => value === done.value);
			if (filter.is_open === true || (values.length > 0 && !hasDone))
				conditions.push(`${expression} < 'infinity'::date`);
			else if (filter.is_open === false || (hasDone && isOnlyDone))
				// With `=`, PostgreSQL would take the order for one by id alone.
				conditions.push(`${expression} >= 'infinity'::date`);
			return conditions;
		},
	};
}

/**
 * Returns the two filters of a date field: `<field>_from` and `<field>_until`, both inclusive. The
 * list of tools does not show those of a due date, because due_from and due_until mean the same.
 */
export function dateFilters(
	field: string,
	shown: Shown = "undescribed",
): Record<string, Filter> {
	// The index for ordering by this date has the same expression. The filters can therefore use that
	// index.
	const indexed = orInfinity(field, "date");
	return {
		[`${field}_from`]: {
			bound: { of: field, end: "least" },
			schema: dateSchema().meta(described("This day or later", shown)),
			sql: (parameter) =>
				`${indexed} >= ${parameter}::date and ${indexed} < 'infinity'::date`,
		},
		[`${field}_until`]: {
			bound: { of: field, end: "greatest" },
			schema: dateSchema().meta(described("This day or earlier", shown)),
			sql: (parameter) => `${indexed} <= ${parameter}::date`,
		},
	};
}

/** Returns the two filters of a datetime field: `<field>_from` and `<field>_until`. */
export function timeFilters(field: string): Record<string, Filter> {
	// The index for ordering by this time has the same expression. The filters can therefore use that
	// index.
	const indexed = orInfinity(field, "timestamptz");
	return {
		[`${field}_from`]: {
			bound: { of: field, end: "least" },
			schema: timeSchema().meta(obvious("At this time or later")),
			sql: (parameter) =>
				`${indexed} >= ${parameter}::timestamptz and ${indexed} < 'infinity'::timestamptz`,
		},
		[`${field}_until`]: {
			bound: { of: field, end: "greatest" },
			schema: timeSchema().meta(obvious("Before this time")),
			sql: (parameter) => `${indexed} < ${parameter}::timestamptz`,
		},
	};
}
