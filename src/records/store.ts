import type { PoolClient } from "pg";
import { FOREIGN_KEY_VIOLATION, UNIQUE_VIOLATION } from "../db/sqlstate.ts";
import { badFields, type FieldIssue } from "../errors.ts";
import { type IdKind, kindNoun, makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import type { Change, Context } from "../operation.ts";
import { resolveChecks } from "./check-fields.ts";
import type { AnyRecordKind } from "./kind.ts";
import { requireAccepted } from "./refused-values.ts";
import { columnsOf } from "./result-rows.ts";
import {
	requireFreeReferenceId,
	takenReferenceId,
} from "./taken-reference-ids.ts";
import { changeOf, type Values } from "./values.ts";
import {
	insertStatement,
	storedFields,
	updateStatement,
	updateText,
} from "./write-statements.ts";

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
	await insertValues(client, kind, organizationId, id, values, "nothing");
	return id;
}

/**
 * Works like `insertRecord` and `noteStored` for one record, and returns the record. If possible,
 * the statement that stores the record also returns it.
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
	await requireFreeReferenceId(client, kind, organizationId, values);
	await requireAccepted(client, kind, organizationId, { values });
	const id = makeId(organizationId, kind.kind);
	const isWhole = isOneRow(kind, values);
	const answer = isWhole ? "record" : "nothing";
	const stored = await insertValues(
		client,
		kind,
		organizationId,
		id,
		values,
		answer,
	);
	const rows = isWhole
		? stored
		: await readRecords(client, kind, organizationId, [id]);
	const [added = {}] = note(context, kind, [{ id }], rows);
	return added;
}

/** Returns the stored record if the answer is "record". */
async function insertValues(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	id: string,
	values: Values,
	answer: "nothing" | "record",
): Promise<Values[]> {
	const isNumbered =
		kind.referencePrefix !== undefined && values.reference_id === undefined;
	const { name, text, fields } = insertStatement(kind, isNumbered, answer);
	const insert = {
		name,
		text,
		values: [organizationId, id, ...fields.map((name) => values[name])],
	};
	return explaining(kind, values, async () => {
		// If another transaction has just stored a record with this number, the insert stores no row.
		// The loop then tries the next number.
		for (;;) {
			const { rowCount, rows } = await client.query<Values>(insert);
			if (rowCount !== 1) continue;
			await storeJoins(client, kind, organizationId, id, values);
			return rows;
		}
	});
}

/** True if the values are stored in one row, without rows for references. */
export function isOneRow(kind: AnyRecordKind, values: Values): boolean {
	return Object.entries(kind.fields).every(
		([name, { join }]) => !join || !Array.isArray(values[name]),
	);
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
	await updateValues(client, kind, organizationId, id, values, "nothing");
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
	await requireFreeReferenceId(client, kind, organizationId, values, id);
	const rows = await updateAndRead(client, kind, organizationId, id, values);
	const [after = {}] = note(context, kind, [{ id, before }], rows);
	return after;
}

/**
 * Stores the values and returns the record. The statement that changes one field returns the
 * record. After one that changes several, a prepared one reads the record, because planning the
 * columns of a record can take a millisecond. Both are sent together if nothing is between them.
 */
async function updateAndRead(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	id: string,
	values: Values,
): Promise<Values[]> {
	const isWhole = isOneRow(kind, values);
	const answer =
		isWhole && changedFields(kind, values).length === 1 ? "record" : "nothing";
	const writing = updateValues(
		client,
		kind,
		organizationId,
		id,
		values,
		answer,
	);
	if (answer === "record") return writing;
	const read = () => readRecords(client, kind, organizationId, [id]);
	const early = isWhole ? read() : undefined;
	// If the write fails, the read fails too, and only the error of the write counts.
	early?.catch(() => {});
	await writing;
	return early ?? read();
}

/** Sends the update before it returns. Resolves to the record if the answer is "record". */
async function updateValues(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	id: string,
	values: Values,
	answer: "nothing" | "record",
): Promise<Values[]> {
	const changed = changedFields(kind, values);
	const [field, ...others] = changed;
	const isSingle = field !== undefined && others.length === 0;
	return explaining(kind, values, async () => {
		const { rows } = await client.query<Values>({
			...(isSingle
				? updateStatement(kind, field, answer)
				: { text: updateText(kind, changed) }),
			values: [organizationId, id, ...changed.map((name) => values[name])],
		});
		await storeJoins(client, kind, organizationId, id, values);
		return rows;
	});
}

function changedFields(kind: AnyRecordKind, values: Values): string[] {
	return storedFields(kind).filter((name) => name in values);
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
	/** Notes for the same entry about things that are not fields of the record. */
	notes?: Change["fields"];
}

/** Returns the records with these ids, in any order. Sends the statement before it returns. */
export async function readRecords(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	ids: readonly string[],
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
	return stored.map(({ id, before, notes }) => {
		const after = found.get(id);
		if (!after) throw notFound(id);
		const change = changeOf(kind, before, after);
		changed({
			...change,
			fields: { ...notes, ...change.fields },
			...(importId !== undefined && { importId }),
		});
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
export async function explaining<Result>(
	kind: AnyRecordKind,
	values: Values,
	work: () => Promise<Result>,
): Promise<Result> {
	try {
		return await work();
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
			throw takenReferenceId(kind);
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
