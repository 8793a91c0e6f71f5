import type { PoolClient } from "pg";
import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "./as-of.ts";
import { organizationId } from "./list-pages.ts";
import { MAX_NAMED } from "./max-named.ts";
import { type NamedKind, namedKindOf, namedKinds } from "./searchable-kinds.ts";
import { anyIdSchema } from "./text-schemas.ts";

/** Returns the names of records. This takes one statement, however many ids and kinds there are. */
export const getRecordNames = defineOperation({
	name: "getRecordNames",
	title: "Get names of records",
	description:
		"Read the names of records of any kind by their ids, such as the owners in a list. Ids without a record are left out.",
	toolset: "search",
	access: "read",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		ids: z
			.array(anyIdSchema())
			.max(MAX_NAMED)
			.describe("Ids of records, of any kinds"),
		...asOfShape,
	}),
	output: z.object({
		records: z.array(z.object({ id: z.string(), name: z.string().nullable() })),
	}),
	run: async (context, { organization_id, ids, as_of }) => {
		const { client } = await contextAsOf(context, as_of);
		return { records: await findNames(client, organization_id, ids) };
	},
});

/** Returns the names of records of these kinds. Leaves out ids of other kinds, and without a record. */
export async function findNames(
	client: PoolClient,
	organization: string,
	ids: string[],
	kindsWithNames: readonly NamedKind[] = namedKinds,
): Promise<{ id: string; name: string | null }[]> {
	const kinds = new Set(ids.map((id) => namedKindOf(kindsWithNames, id)));
	const texts = [...kinds]
		.filter((kind) => kind !== undefined)
		.map(
			({ table, nameOf }) =>
				`select t.id, left(${nameOf("t")}, 1000) as name from ${table} t where t.organization_id = $1 and t.id = any($2)`,
		);
	if (texts.length === 0) return [];
	const { rows } = await client.query<{ id: string; name: string | null }>(
		texts.join(" union all "),
		[organization, ids],
	);
	return rows;
}
