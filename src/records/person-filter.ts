import { z } from "zod";
import type { Filter } from "./filter.ts";
import { quoted } from "./why-none.ts";

/** Largest number of people that the text of a filter may match. */
const MAX_PEOPLE = 1000;

/** Selects the people of organization $1 whose name or address contains the text. */
const found = (parameter: string) => `
	select p.id::text
	from find_records('people', array[${parameter}::text], ${MAX_PEOPLE}) f (id)
	join people p on p.organization_id = $1 and p.id = f.id
	where search_fold(p.full_name || ' ' || p.primary_email_address)
		like search_pattern(${parameter}::text)`;

/** Returns a filter of the column by the name or address of the person in it. */
export function personFilter(column: string): Filter {
	return {
		schema: z
			.string()
			.max(200, { abort: true })
			.refine((text) => text.trim() !== "", "must not be empty")
			.describe("Part of the name"),
		sql: (parameter) => `t.${column} = any(array(${found(parameter)}))`,
		toParameter: (value) => String(value).trim(),
		whyNone: async (client, organizationId, value) => {
			const { rowCount } = await client.query(found("$2"), [
				organizationId,
				String(value).trim(),
			]);
			return rowCount
				? undefined
				: `nobody's name or address contains ${quoted(String(value))}; listPeople lists the people`;
		},
	};
}
