import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { roleReaches } from "../principal.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { noteStored, updateRecord } from "../records/store.ts";
import { idSchema } from "../records/text-schemas.ts";
import { changeOf } from "../records/values.ts";
import { recordKinds } from "../registers/all.ts";
import { planRollback, type RollbackPlan } from "./rollback-plan.ts";

/** Number of records that are restored concurrently. Their statements are then sent together. */
const AT_ONCE = 100;
/** Number of kept records that an answer names, and that an error names. */
const MAX_KEPT = 100;
const MAX_TOLD = 20;

export const rollBackImport = defineOperation({
	name: "rollBackImport",
	title: "Roll back an import",
	description:
		"Delete the records that an import added, and give the records that it changed their former values. By default this is a dry run, which stores nothing. Records that were changed since are named; the rollback is then rejected, unless skip_changed is true. A member rolls back their own imports, an administrator all.",
	toolset: "csv",
	access: "write",
	surface: "console",
	isDestructive: true,
	tenant: "id",
	input: z.strictObject({
		id: idSchema("import"),
		dry_run: z
			.boolean()
			.optional()
			.describe("false rolls the import back; true by default"),
		skip_changed: z
			.boolean()
			.optional()
			.describe("true leaves records that were changed since as they are"),
	}),
	output: z.object({
		dry_run: z.boolean(),
		deleted: z.int(),
		restored: z.int(),
		kept: z.int().describe("Records that cannot be rolled back"),
		kept_records: z
			.array(
				z.object({
					id: z.string(),
					name: z.string().nullable(),
					reason: z.string(),
				}),
			)
			.describe(`The first ${MAX_KEPT} of them`),
	}),
	run: async (context, { id, dry_run = true, skip_changed = false }) => {
		const kind = await lockImport(context, id);
		const plan = await planRollback(
			context.client,
			kind,
			context.membership,
			id,
		);
		if (!dry_run) {
			if (!skip_changed) rejectKept(plan);
			if (plan.remove.length + plan.restore.length === 0) {
				throw new AppError(
					"bad_request",
					"nothing can be rolled back, because every record of the import was changed since",
				);
			}
			await performRollback(context, kind, id, plan);
		}
		return {
			dry_run,
			deleted: plan.remove.length,
			restored: plan.restore.length,
			kept: plan.kept.length,
			kept_records: plan.kept.slice(0, MAX_KEPT),
		};
	},
});

/**
 * Locks an import, so that two people cannot roll it back at the same time. Returns the kind of its
 * records.
 */
async function lockImport(
	{ client, membership, principal }: Context,
	id: string,
): Promise<AnyRecordKind> {
	const { rows } = await client.query<{
		kind: string;
		rolled_back_at: string | null;
		is_own: boolean;
	}>(
		`select i.kind, i.rolled_back_at, exists (
			select from audit_entries e
			where e.organization_id = i.organization_id and e.record_id = i.id
				and e.operation = 'importRecords' and e.actor_id = $3
		) as is_own
		from imports i where i.organization_id = $1 and i.id = $2 for update of i`,
		[membership.organizationId, id, principal.userId],
	);
	const [found] = rows;
	const kind = recordKinds.find((known) => known.kind === found?.kind);
	if (!found || !kind) throw notFound(id);
	if (!found.is_own && !roleReaches(membership.role, "admin")) {
		throw new AppError(
			"forbidden",
			"permission denied: somebody else made this import; ask them or an administrator to roll it back",
		);
	}
	if (found.rolled_back_at !== null) {
		throw new AppError(
			"bad_request",
			`the import was already rolled back at ${found.rolled_back_at}`,
		);
	}
	return kind;
}

function rejectKept({ kept }: RollbackPlan): void {
	if (kept.length === 0) return;
	const told = kept
		.slice(0, MAX_TOLD)
		.map(({ id, name, reason }) => `${name ?? id} ${reason}`);
	const more = kept.length > MAX_TOLD ? "; …" : "";
	throw new AppError(
		"bad_request",
		`nothing was rolled back, because some records (${kept.length}) cannot be: ${told.join("; ")}${more}. Set skip_changed to true to leave them as they are`,
	);
}

async function performRollback(
	context: Context,
	kind: AnyRecordKind,
	importId: string,
	{ remove, restore, kept }: RollbackPlan,
): Promise<void> {
	const { client, membership } = context;
	// A restored record may get back a reference id that a deleted record has now.
	await client.query(
		`delete from ${kind.table} where organization_id = $1 and id = any($2)`,
		[membership.organizationId, remove.map(({ id }) => id)],
	);
	for (const record of remove) {
		context.changed({ ...changeOf(kind, record, undefined), importId });
		context.happened({
			type: "record.deleted",
			record_id: String(record.id),
			data: { kind: kind.kind },
		});
	}
	for (let from = 0; from < restore.length; from += AT_ONCE) {
		const some = restore.slice(from, from + AT_ONCE);
		// Waits for all of them, so that none writes after the transaction has ended.
		const results = await Promise.allSettled(
			some.map(({ before, values }) =>
				updateRecord(context, kind, String(before.id), values),
			),
		);
		const failed = results.find(({ status }) => status === "rejected");
		if (failed?.status === "rejected") throw failed.reason;
	}
	const restored = restore.map(({ before }) => ({
		id: String(before.id),
		before,
	}));
	await noteStored(context, kind, restored, importId);
	await client.query(
		"update imports set rolled_back_at = now(), kept = $3 where organization_id = $1 and id = $2",
		[membership.organizationId, importId, kept.length],
	);
	context.changed({
		kind: "import",
		id: importId,
		name: kind.nouns,
		fields: {
			kind: { after: kind.kind },
			deleted: { after: remove.length },
			restored: { after: restore.length },
			kept: { after: kept.length },
		},
	});
}
