import type { PoolClient } from "pg";
import type { Change } from "../operation.ts";
import type { Membership } from "../principal.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { findNames } from "../records/names-by-id.ts";
import { recordName } from "../records/record-name.ts";
import { findRefused } from "../records/refused-values.ts";
import { membersAmong, usersOf } from "../records/removal.ts";
import { findReserved } from "../records/reserved-updates.ts";
import { columnsOf } from "../records/result-rows.ts";
import type { Values } from "../records/values.ts";

/** Change of one record by an import, as its entry in the audit log says. */
interface ImportedRecord {
	entry_id: string;
	record_id: string;
	record_name: string | null;
	changes: Change["fields"];
}

export interface KeptRecord {
	id: string;
	name: string | null;
	reason: string;
}

export interface RollbackPlan {
	/** The records that the import added, as they are now. */
	remove: Values[];
	/** The records that the import changed, and the values that they had before. */
	restore: { before: Values; values: Values }[];
	/** The records that cannot be rolled back. */
	kept: KeptRecord[];
}

/**
 * Returns what a rollback of an import does. Locks the records of the import. The number of
 * statements does not depend on the number of records.
 */
export async function planRollback(
	client: PoolClient,
	kind: AnyRecordKind,
	membership: Membership,
	importId: string,
): Promise<RollbackPlan> {
	const { organizationId } = membership;
	const { rows: imported } = await client.query<ImportedRecord>(
		`select e.id as entry_id, e.record_id, e.record_name, e.changes from audit_entries e
		where e.organization_id = $1 and e.import_id = $2 and e.operation = 'importRecords'
		order by e.id`,
		[organizationId, importId],
	);
	const ids = imported.map(({ record_id }) => record_id);
	const { rows } = await client.query<Values>(
		`select ${columnsOf(kind)} from ${kind.table} t
		where t.organization_id = $1 and t.id = any($2) order by t.id for update of t`,
		[organizationId, ids],
	);
	const now = new Map(rows.map((row) => [String(row.id), row]));
	const added = ids.filter(
		(id, at) => now.has(id) && isNew(imported[at] as ImportedRecord),
	);
	const changed = await changedSince(client, organizationId, imported);
	const users = await usersOf(client, kind, organizationId, added);
	const members =
		kind.kind === "people"
			? await membersAmong(client, organizationId, added)
			: new Set<string>();
	const missing = await missingReferences(
		client,
		kind,
		organizationId,
		imported,
	);

	const plan: RollbackPlan = { remove: [], restore: [], kept: [] };
	for (const record of imported) {
		const { record_id: id, record_name: name, changes } = record;
		const current = now.get(id);
		const keep = (reason: string) => plan.kept.push({ id, name, reason });
		const values = formerValues(kind, changes);
		if (!current) keep("was deleted since");
		else if (changed.has(id)) keep("was changed since");
		else if (users.has(id)) keep(`is used (${users.get(id)})`);
		else if (members.has(id)) keep("is a member of the organization");
		else if (isNew(record)) plan.remove.push(current);
		else if (referencesIn(kind, values).some((one) => missing.has(one))) {
			keep("named a record that was deleted since");
		} else if (Object.keys(values).length > 0) {
			plan.restore.push({ before: current, values });
		}
	}
	return withoutForbidden(client, membership, kind, plan);
}

/**
 * Keeps the records whose former values only an administrator may give them, or nobody beside the
 * other records.
 */
async function withoutForbidden(
	client: PoolClient,
	membership: Membership,
	kind: AnyRecordKind,
	{ remove, restore, kept }: RollbackPlan,
): Promise<RollbackPlan> {
	const reserved = await findReserved(client, membership, kind, restore);
	const refused = await findRefused(
		client,
		kind,
		membership.organizationId,
		restore.filter((update) => !reserved.has(update)),
	);
	const others: KeptRecord[] = [];
	const restored = restore.filter((update) => {
		const { before, values } = update;
		const byYou = reserved.get(update);
		const issue = byYou ?? refused.get(values);
		if (!issue) return true;
		others.push({
			id: String(before.id),
			name: recordName(kind, before),
			reason: `cannot be restored${byYou ? " by you" : ""} (${issue.field}: ${issue.message})`,
		});
		return false;
	});
	return { remove, restore: restored, kept: [...kept, ...others] };
}

/** The import added the record if no field had a value before. */
const isNew = ({ changes }: ImportedRecord) =>
	Object.values(changes).every((change) => !("before" in change));

/** Returns the values that the import replaced. Computed fields follow from the others. */
function formerValues(kind: AnyRecordKind, changes: Change["fields"]): Values {
	const stored = Object.entries(changes).filter(
		([name]) => (kind.fields[name]?.given ?? "computed") !== "computed",
	);
	return Object.fromEntries(stored.map(([name, { before }]) => [name, before]));
}

/** Returns the ids of the records that have a later entry in the audit log. */
async function changedSince(
	client: PoolClient,
	organizationId: string,
	imported: readonly ImportedRecord[],
): Promise<Set<string>> {
	const { rows } = await client.query<{ record_id: string }>(
		`select i.record_id from unnest($2::text[], $3::bigint[]) i (record_id, entry_id)
		where exists (
			select from audit_entries e
			where e.organization_id = $1 and e.record_id = i.record_id and e.id > i.entry_id
				and e.outcome = 'DONE'
		)`,
		[
			organizationId,
			imported.map(({ record_id }) => record_id),
			imported.map(({ entry_id }) => entry_id),
		],
	);
	return new Set(rows.map(({ record_id }) => record_id));
}

/** Returns the ids that the former values name and that no record has any more. */
async function missingReferences(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	imported: readonly ImportedRecord[],
): Promise<Set<string>> {
	const named = new Set(
		imported
			.filter((record) => !isNew(record))
			.flatMap(({ changes }) =>
				referencesIn(kind, formerValues(kind, changes)),
			),
	);
	const found = await findNames(client, organizationId, [...named]);
	for (const { id } of found) named.delete(id);
	return named;
}

function referencesIn(kind: AnyRecordKind, values: Values): string[] {
	return Object.entries(values)
		.filter(([name]) => kind.fields[name]?.reference)
		.flatMap(([, value]) => value)
		.filter((id): id is string => typeof id === "string");
}
