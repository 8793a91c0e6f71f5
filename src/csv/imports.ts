import { z } from "zod";
import { makeId } from "../id.ts";
import { type Context, defineOperation } from "../operation.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { organizationId } from "../records/list-pages.ts";
import { recordKinds } from "../registers/all.ts";

/** Number of imports that the list shows. */
const MAX_LISTED = 50;

export const KINDS = recordKinds.map(({ kind }) => kind) as [
	string,
	...string[],
];

/**
 * Notes an import under a new id, with one entry in the audit log that stands for all its lines.
 */
export async function noteImport(
	{ client, membership, changed }: Context,
	id: string,
	kind: AnyRecordKind,
	{ added, updated }: { added: number; updated: number },
): Promise<void> {
	await client.query(
		"insert into imports (organization_id, id, kind, added, updated) values ($1, $2, $3, $4, $5)",
		[membership.organizationId, id, kind.kind, added, updated],
	);
	changed({
		kind: "import",
		id,
		name: kind.nouns,
		fields: {
			kind: { after: kind.kind },
			added: { after: added },
			updated: { after: updated },
		},
	});
}

export const makeImportId = ({ membership }: Context) =>
	makeId(membership.organizationId, "import");

const listed = z.object({
	id: z.string(),
	kind: z.string().describe("Kind of its records"),
	added: z.int(),
	updated: z.int(),
	imported_at: z.string(),
	imported_by: z.string().nullable().describe("Name of the member"),
	is_own: z.boolean().describe("true: you made it"),
	rolled_back_at: z.string().nullable(),
	rolled_back_by: z.string().nullable(),
	kept: z
		.int()
		.nullable()
		.describe("Records that the rollback left as they were"),
});

/** Selects the entry of the import `i` that `operation` wrote. The audit log has the names. */
const entryOf = (operation: string) => `left join lateral (
	select e.actor_id, e.actor_name from audit_entries e
	where e.organization_id = i.organization_id and e.record_id = i.id
		and e.operation = '${operation}' and e.outcome = 'DONE'
	limit 1
) ${operation} on true`;

export const listImports = defineOperation({
	name: "listImports",
	title: "List imports",
	description: `List the last ${MAX_LISTED} imports of an organization, newest first: who, when, how many records, and whether it was rolled back.`,
	toolset: "csv",
	access: "read",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		kind: z.enum(KINDS).optional().describe("Imports of this register only"),
	}),
	output: z.object({ imports: z.array(listed) }),
	run: async ({ client, membership, principal }, { kind }) => {
		const { rows } = await client.query<z.input<typeof listed>>(
			`select i.id, i.kind, i.added, i.updated, i.created_at as imported_at,
				importRecords.actor_name as imported_by,
				coalesce(importRecords.actor_id = $2, false) as is_own,
				i.rolled_back_at, rollBackImport.actor_name as rolled_back_by, i.kept
			from imports i ${entryOf("importRecords")} ${entryOf("rollBackImport")}
			where i.organization_id = $1 and ($3::text is null or i.kind = $3)
			order by i.created_at desc, i.id desc
			limit ${MAX_LISTED}`,
			[membership.organizationId, principal.userId, kind ?? null],
		);
		return { imports: rows };
	},
});
