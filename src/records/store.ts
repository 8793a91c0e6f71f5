import type { PoolClient } from "pg";
import { FOREIGN_KEY_VIOLATION, UNIQUE_VIOLATION } from "../db/sqlstate.ts";
import { badFields, type FieldIssue } from "../errors.ts";
import { type IdKind, kindNoun, makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import type { Context } from "../operation.ts";
import { resolveChecks } from "./check-fields.ts";
import type { AnyRecordKind } from "./kind.ts";
import { columnsOf } from "./result-rows.ts";
import { changeOf, type Values } from "./values.ts";

export async function findRecord(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	id: string,
	lock: "" | "for update" = "",
): Promise<Values | undefined> {
	const { rows } = await client.query({
		name: `get.${kind.kind}${lock && ".lock"}`,
		text: `select ${columnsOf(kind)} from ${kind.table} t where t.organization_id = $1 and t.id = $2 ${lock && "for update of t"}`,
		values: [organizationId, id],
	});
	return rows[0];
}

/** Returns the record. Throws not_found if there is no such record. */
export async function existing(
	{ client, membership }: Context,
	kind: AnyRecordKind,
	id: string,
	lock: "" | "for update" = "",
): Promise<Values> {
	const found = await findRecord(
		client,
		kind,
		membership.organizationId,
		id,
		lock,
	);
	if (!found) throw notFound(id);
	return found;
}

/**
 * Stores prepared values as a new record and returns its id. The caller must then call noteStored.
 * Throws bad_request if a reference names a missing record or a value is already taken. The error
 * names the field.
 */
export async function insertRecord(
	{ client, membership: { organizationId } }: Context,
	kind: AnyRecordKind,
	values: Values,
): Promise<string> {
	await resolveChecks(client, kind, organizationId, values);
	const id = makeId(organizationId, kind.kind);
	const columns = storedColumns(kind);
	const isNumbered =
		kind.referencePrefix !== undefined && values.reference_id === undefined;
	const placeholders = columns.map((_, index) => `$${index + 3}`);
	const insert = () =>
		client.query({
			name: `add.${kind.kind}${isNumbered ? ".numbered" : ""}`,
			text: `insert into ${kind.table} (organization_id, id, ${columns.join(", ")}) values ($1, $2, ${placeholders.join(", ")})
				${isNumbered ? `on conflict on constraint ${kind.table}_reference_id_key do nothing` : ""}`,
			values: [organizationId, id, ...columns.map((name) => values[name])],
		});
	await explaining(kind, values, async () => {
		let isStored = false;
		while (!isStored) {
			if (isNumbered) {
				values.reference_id = await makeReferenceId(
					client,
					kind,
					organizationId,
				);
			}
			// If another transaction has just stored a record with this number, the insert stores no row.
			// The loop then tries the next number.
			isStored = (await insert()).rowCount === 1;
		}
		await storeJoins(client, kind, organizationId, id, values);
	});
	return id;
}

/**
 * Stores prepared values in a locked record. There must be at least one value. The caller must then
 * call noteStored.
 */
export async function updateRecord(
	{ client, membership: { organizationId } }: Context,
	kind: AnyRecordKind,
	id: string,
	values: Values,
): Promise<void> {
	await resolveChecks(client, kind, organizationId, values);
	const columns = storedColumns(kind).filter((name) => name in values);
	const assignments = columns.map((name, index) => `${name} = $${index + 3}, `);
	await explaining(kind, values, async () => {
		await client.query(
			`update ${kind.table} set ${assignments.join("")}updated_at = now() where organization_id = $1 and id = $2`,
			[organizationId, id, ...columns.map((name) => values[name])],
		);
		await storeJoins(client, kind, organizationId, id, values);
	});
}

/**
 * Notes the changes of stored records for the audit log. For a record that already existed, the
 * caller gives the previous state. Reads all records in one statement and returns them in the given
 * order. `importId` names the import that stored them.
 */
export async function noteStored(
	{ client, membership, changed, happened }: Context,
	kind: AnyRecordKind,
	stored: { id: string; before?: Values }[],
	importId?: string,
): Promise<Values[]> {
	const { rows } = await client.query<Values>({
		name: `get.${kind.kind}.many`,
		text: `select ${columnsOf(kind)} from ${kind.table} t where t.organization_id = $1 and t.id = any($2)`,
		values: [membership.organizationId, stored.map(({ id }) => id)],
	});
	const found = new Map(rows.map((row) => [row.id, row]));
	return stored.map(({ id, before }) => {
		const after = found.get(id);
		if (!after) throw notFound(id);
		const change = changeOf(kind, before, after);
		changed(importId === undefined ? change : { ...change, importId });
		const fields = Object.keys(change.fields);
		if (!before || fields.length > 0) {
			happened({
				type: before ? "record.updated" : "record.created",
				record_id: id,
				data: { kind: kind.kind, ...(before && { fields }) },
			});
		}
		return after;
	});
}

function storedColumns(kind: AnyRecordKind): string[] {
	return Object.entries(kind.fields)
		.filter(([, field]) => field.given !== "computed" && !field.join)
		.map(([name]) => name);
}

function ownerColumn(kind: AnyRecordKind): string {
	return `${kind.kind}_id`;
}

async function storeJoins(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	id: string,
	values: Values,
): Promise<void> {
	for (const [name, { join, reference }] of Object.entries(kind.fields)) {
		const ids = values[name];
		if (!join || !reference || !Array.isArray(ids)) continue;
		// A foreign key would not report which of the records is missing, so this query looks for them
		// first. It also locks them, so that nobody can delete one before this transaction ends.
		const { rows: found } = await client.query<{ id: string }>(
			`select r.id from ${join.of} r where r.organization_id = $1 and r.id = any($2) order by r.id for key share`,
			[organizationId, ids],
		);
		const there = new Set(found.map(({ id }) => id));
		const missing = ids.map(String).filter((id) => !there.has(id));
		if (missing.length > 0) {
			throw badFields(
				missing.map((id) => missingReference(name, reference, id)),
			);
		}
		// References that stay keep their row, because each deleted row leaves a version.
		await client.query(
			`delete from ${join.table} where organization_id = $1 and ${ownerColumn(kind)} = $2 and ${join.column} <> all($3)`,
			[organizationId, id, ids],
		);
		await client.query(
			`insert into ${join.table} (organization_id, ${ownerColumn(kind)}, ${join.column})
			select $1, $2, unnest($3::text[]) on conflict do nothing`,
			[organizationId, id, ids],
		);
	}
}

/**
 * Returns the next free reference id, such as NC-002 after NC-001. Skips ids that users have chosen
 * themselves.
 */
async function makeReferenceId(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
): Promise<string> {
	const { rows } = await client.query<{ reference_id: string }>(
		"select make_reference_id($1, $2, $3) as reference_id",
		[organizationId, kind.table, kind.referencePrefix],
	);
	return rows[0]?.reference_id ?? "";
}

/** Runs `work`. If the work violates a constraint, throws a bad_request that names the field. */
async function explaining(
	kind: AnyRecordKind,
	values: Values,
	work: () => Promise<void>,
): Promise<void> {
	try {
		await work();
	} catch (thrown) {
		const error = thrown as {
			code?: string;
			constraint?: string;
		};
		const found = Object.entries(kind.fields).find(
			([name]) => error.constraint === constraintOf(kind, name),
		);
		if (found && error.code === FOREIGN_KEY_VIOLATION) {
			const [name, { reference = "organization" }] = found;
			throw badFields([
				missingReference(name, reference, String(values[name])),
			]);
		}
		if (
			error.code === UNIQUE_VIOLATION &&
			error.constraint === `${kind.table}_reference_id_key`
		) {
			throw badFields([
				{
					field: "reference_id",
					message: `is already used by another ${kind.noun}; choose another, or leave it out to get the next free one`,
				},
			]);
		}
		throw thrown;
	}
}

export function missingReference(
	field: string,
	kind: IdKind,
	id: string,
): FieldIssue {
	return {
		field,
		message: `there is no ${kindNoun(kind)} ${id} in this organization`,
	};
}

/** Returns the name of the field's foreign key: `<table>_<column>_fkey`. */
function constraintOf(kind: AnyRecordKind, name: string): string {
	return `${kind.table}_${name}_fkey`;
}
