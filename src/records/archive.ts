import { z } from "zod";
import { AppError, badFields } from "../errors.ts";
import { kindNoun, parseId } from "../id.ts";
import { type Context, defineOperation } from "../operation.ts";
import { outOfRegisters } from "../organizations/narrow-membership.ts";
import { recordKinds } from "../registers/all.ts";
import { outOfScope } from "../tokens/scopes.ts";
import { canBeArchived } from "./archived-field.ts";
import { DISTINCT } from "./distinct.ts";
import { type AnyRecordKind, toolsetOf } from "./kind.ts";
import { organizationId } from "./list-pages.ts";
import { columnsOf } from "./result-rows.ts";
import { obvious } from "./shown-in-tool-list.ts";
import { noteStored } from "./store.ts";
import { anyIdSchema } from "./text-schemas.ts";
import type { Values } from "./values.ts";

const MAX_RECORDS = 100;

const archivable = recordKinds.filter(canBeArchived);
const kindOf = (id: string) =>
	archivable.find(({ kind }) => kind === parseId(id)?.kind);

export const archiveRecords = defineOperation({
	name: "archiveRecords",
	title: "Archive records",
	description: `Archive up to ${MAX_RECORDS} ${archivable.map(({ nouns }) => nouns).join(", ")} that are out of use, or take them back with archived: false. Lists leave them out by default; links and history stay.`,
	toolset: "archive",
	access: "write",
	isIdempotent: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		record_ids: z
			.array(
				anyIdSchema().refine(
					(id) => kindOf(id) !== undefined,
					`must be the id of a record that can be archived: ${archivable.map(({ kind }) => kindNoun(kind)).join(", ")}`,
				),
			)
			.min(1)
			.max(MAX_RECORDS, { abort: true })
			.refine(...DISTINCT)
			.meta(obvious("Ids of the records")),
		archived: z.boolean().optional().describe("true by default"),
	}),
	output: z.object({
		archived: z.boolean(),
		changed_record_ids: z
			.array(z.string())
			.describe("The others were so already"),
	}),
	run: async (context, { record_ids, archived = true }) => {
		const changed: string[] = [];
		for (const kind of archivable) {
			const ids = record_ids.filter((id) => kindOf(id) === kind);
			if (ids.length === 0) continue;
			requireWritable(context, kind);
			changed.push(...(await archive(context, kind, ids, archived)));
		}
		return { archived, changed_record_ids: changed };
	},
});

/** Throws forbidden if the API token or the membership does not permit to change these records. */
function requireWritable(
	{ principal, membership }: Context,
	kind: AnyRecordKind,
): void {
	const tool = {
		name: `update${kind.tool.one}`,
		toolset: toolsetOf(kind),
		isReadOnly: false,
	};
	const excluded =
		outOfScope(principal, tool) ?? outOfRegisters(membership, tool);
	if (excluded) throw new AppError("forbidden", excluded);
}

/** Archives records of a kind or takes them back. Returns the ids of those that changed. */
async function archive(
	context: Context,
	kind: AnyRecordKind,
	ids: readonly string[],
	archived: boolean,
): Promise<string[]> {
	const { client, membership } = context;
	const { organizationId } = membership;
	const { rows } = await client.query<Values>(
		`select ${columnsOf(kind)} from ${kind.table} t
		where t.organization_id = $1 and t.id = any($2) order by t.id for update of t`,
		[organizationId, ids],
	);
	const found = new Map(rows.map((row) => [row.id, row]));
	const missing = ids.filter((id) => !found.has(id));
	if (missing.length > 0) {
		throw badFields(
			missing.map((id) => ({
				field: "record_ids",
				message: `there is no ${kind.noun} ${id} in this organization`,
			})),
		);
	}
	const stored = rows
		.filter(({ archived_at }) => (archived_at === null) === archived)
		.map((before) => ({ id: String(before.id), before }));
	if (stored.length === 0) return [];
	const changed = stored.map(({ id }) => id);
	await client.query(
		`update ${kind.table} set archived_at = case when $3 then now() end, updated_at = now()
		where organization_id = $1 and id = any($2)`,
		[organizationId, changed, archived],
	);
	await noteStored(context, kind, stored);
	return changed;
}
