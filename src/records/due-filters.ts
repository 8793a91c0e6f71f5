import { z } from "zod";
import { dateSchema } from "./field.ts";
import type { Filter } from "./list-pages.ts";

/** A register of things to be done by a day: where the day stands, and when one is done. */
export interface Due {
	date: string;
	done: { field: string; value: string };
}

/** The filters of such a register: what is not done yet, and what is due when. */
export function dueFilters({ date, done }: Due): Record<string, Filter> {
	const schema = (which: string) =>
		dateSchema().describe(`${date} on this day or ${which}`);
	return {
		is_open: {
			schema: z
				.boolean()
				.describe(`true: not ${done.value}; false: ${done.value}`),
			sql: (parameter) =>
				`(t.${done.field} <> '${done.value}') = ${parameter}::boolean`,
		},
		due_from: {
			schema: schema("later"),
			sql: (parameter) => `t.${date} >= ${parameter}::date`,
		},
		due_until: {
			schema: schema("earlier"),
			// As the index for the order by this day has it.
			sql: (parameter) =>
				`coalesce(t.${date}, 'infinity'::date) <= ${parameter}::date`,
		},
	};
}
