import { z } from "zod";
import { orInfinity } from "./date-or-infinity.ts";
import type { Field } from "./field.ts";
import type { Filter } from "./filter.ts";
import { described } from "./shown-in-tool-list.ts";

const HELP = "When it was archived; empty while it is in use";

/**
 * Makes the field `archived_at` of a register whose records can be archived. Only archiveRecords
 * sets it. Lists leave archived records out unless the caller asks for them.
 */
export const archivedField = (): Field<string | null, "computed"> => ({
	type: "datetime",
	help: HELP,
	description: HELP,
	given: "computed",
	input: z.string().nullable(),
	output: z.string().nullable(),
	initial: null,
});

/** True if records of the register can be archived. */
export function canBeArchived({ fields }: { fields: object }): boolean {
	return "archived_at" in fields;
}

/** Condition for rows `t` that are not archived. Lists show these by default. */
export const IN_USE = "t.archived_at is null";

/** The expression of the index that index_register makes. */
const INDEXED = orInfinity("archived_at", "timestamptz");

export const archivedFilter: Filter = {
	schema: z.boolean().meta(described("true: only archived ones", "filled")),
	sql: (parameter) => `(t.archived_at is not null) = ${parameter}::boolean`,
	flag: {
		true: `${INDEXED} < 'infinity'::timestamptz`,
		false: `${INDEXED} = 'infinity'::timestamptz`,
	},
};
