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
	await insertValues(client, kind, organizationId, id, values);
	return id;
}

/**
 * Works like `insertRecord` and `noteStored` for one record, and returns the record. If possible,
 * the statement that reads the record is sent together with the one that stores it.
 */
export async function addRecord(
	context: Context,
	kind: AnyRecordKind,
	values: Values,
): Promise<Values> {
	const {
		client,
		membership: { organizationId },
	} = context;
	await resolveChecks(client, kind, organizationId, values);
	const id = makeId(organizationId, kind.kind);
	const rows = await readBehind(
		context,
		kind,
		id,
		values,
		insertValues(client, kind, organizationId, id, values),
	);
	const [added = {}] = note(context, kind, [{ id }], rows);
	return added;
}

/** Sends the insert before it returns. */
async function insertValues(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	id: string,
	values: Values,
): Promise<void> {
	const isNumbered =
		kind.referencePrefix !== undefined && values.reference_id === undefined;
	const columns = storedColumns(kind).filter(
		(name) => !(isNumbered && name === "reference_id"),
	);
	const placeholders = columns.map((_, index) => `$${index + 3}`);
	if (isNumbered) {
		columns.push("reference_id");
		placeholders.push(
			`make_reference_id($1::typed_id, '${kind.table}', '${kind.referencePrefix}')`,
		);
	}
	const insert = {
		name: `add.${kind.kind}${isNumbered ? ".numbered" : ""}`,
		text: `insert into ${kind.table} (organization_id, id, ${columns.join(", ")}) values ($1, $2, ${placeholders.join(", ")})
			${isNumbered ? `on conflict on constraint ${kind.table}_reference_id_key do nothing` : ""}`,
		values: [
			organizationId,
			id,
			...columns
				.slice(0, columns.length - (isNumbered ? 1 : 0))
				.map((name) => values[name]),
		],
	};
	await explaining(kind, values, async () => {
		// If another transaction has just stored a record with this number, the insert stores no row.
		// The loop then tries the next number.
		while ((await client.query(insert)).rowCount !== 1);
		await storeJoins(client, kind, organizationId, id, values);
	});
}

/**
 * Waits for `writing`, whose statement is already sent, and returns the record. The read goes out
 * with the write, unless further statements of the write must run before it.
 */
async function readBehind(
	{ client, membership: { organizationId } }: Context,
	kind: AnyRecordKind,
	id: string,
	values: Values,
	writing: Promise<void>,
): Promise<Values[]> {
	const isOneStatement = Object.entries(kind.fields).every(
		([name, { join }]) => !join || !Array.isArray(values[name]),
	);
	const early = isOneStatement
		? readRecords(client, kind, organizationId, [id])
		: undefined;
	// If the write fails, the read fails too, and only the error of the write counts.
	early?.catch(() => {});
	await writing;
	const rows = (await early) ?? [];
	// An insert that had to try the next number was not there yet when the row was read.
	return rows.length > 0
		? rows
		: readRecords(client, kind, organizationId, [id]);
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
	await updateValues(client, kind, organizationId, id, values);
}

/** Works like `updateRecord` and `noteStored` for one record, and returns the record. */
export async function changeRecord(
	context: Context,
	kind: AnyRecordKind,
	before: Values,
	values: Values,
): Promise<Values> {
	const {
		client,
		membership: { organizationId },
	} = context;
	const id = String(before.id);
	await resolveChecks(client, kind, organizationId, values);
	const rows = await readBehind(
		context,
		kind,
		id,
		values,
		updateValues(client, kind, organizationId, id, values),
	);
	const [after = {}] = note(context, kind, [{ id, before }], rows);
	return after;
}

/** Sends the update before it returns. */
async function updateValues(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	id: string,
	values: Values,
): Promise<void> {
	const columns = storedColumns(kind).filter((name) => name in values);
	const assignments = columns.map((name, index) => `${name} = $${index + 3}, `);
	const name = updateName(kind, columns);
	await explaining(kind, values, async () => {
		await client.query({
			...(name && { name }),
			text: `update ${kind.table} set ${assignments.join("")}updated_at = now() where organization_id = $1 and id = $2`,
			values: [organizationId, id, ...columns.map((name) => values[name])],
		});
		await storeJoins(client, kind, organizationId, id, values);
	});
}

/**
 * Notes the changes of stored records for the audit log. For a record that already existed, the
 * caller gives the previous state. Reads all records in one statement and returns them in the given
 * order. `importId` names the import that stored them.
 */
export async function noteStored(
	context: Context,
	kind: AnyRecordKind,
	stored: Stored[],
	importId?: string,
): Promise<Values[]> {
	const rows = await readRecords(
		context.client,
		kind,
		context.membership.organizationId,
		stored.map(({ id }) => id),
	);
	return note(context, kind, stored, rows, importId);
}

interface Stored {
	id: string;
	/** The state before, if the record existed. */
	before?: Values;
}

/** Sends the statement before it returns. */
async function readRecords(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	ids: string[],
): Promise<Values[]> {
	const { rows } = await client.query<Values>({
		name: `get.${kind.kind}.many`,
		text: `select ${columnsOf(kind)} from ${kind.table} t where t.organization_id = $1 and t.id = any($2)`,
		values: [organizationId, ids],
	});
	return rows;
}

function note(
	{ changed, happened }: Context,
	kind: AnyRecordKind,
	stored: Stored[],
	rows: Values[],
	importId?: string,
): Values[] {
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

/**
 * Returns the name of the prepared statement that changes these columns. Planning an update takes
 * PostgreSQL half as long as running it, so the service prepares it once for each connection.
 * Combinations of several columns are too many to keep, so they have no name.
 */
function updateName(
	kind: AnyRecordKind,
	columns: readonly string[],
): string | undefined {
	return columns.length === 1 ? `update.${kind.kind}.${columns[0]}` : undefined;
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
