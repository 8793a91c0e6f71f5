import type { z } from "zod";
import { badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import type { Change, Context } from "../operation.ts";
import type { Field } from "./field.ts";
import type { AnyRecordKind, Fields } from "./kind.ts";
import {
	findRecord,
	findRecords,
	insertRecord,
	updateRecord,
	type Values,
} from "./store.ts";

/**
 * What adding and changing a record is, for one (add…, update…) as for a file of them
 * (importRecords): first prepared, which writes nothing, then stored and noted.
 */

/** What a caller may give of a new record, by field. */
export function shapeToAdd(kind: AnyRecordKind): Record<string, z.ZodType> {
	return mapFields(givenFields(kind), (field) =>
		field.given === "required"
			? field.input.describe(field.description)
			: field.input.optional().describe(describeInitial(field)),
	);
}

/** What a caller may give to change a record, by field. */
export function shapeToUpdate(kind: AnyRecordKind): Record<string, z.ZodType> {
	return mapFields(givenFields(kind), (field) =>
		field.input.optional().describe(field.description),
	);
}

/** The values of a new record: those given, and what follows from them. Throws bad_request. */
export function prepareNew(kind: AnyRecordKind, given: Values): Values {
	const initial = mapFields(givenFields(kind), (field) => field.initial);
	const values = { ...initial, ...withoutAbsent(given) };
	const complete = kind.complete ? kind.complete(values) : values;
	checkRecord(kind, complete);
	return complete;
}

/** Of the values given those that the record does not have yet, maybe none. Throws bad_request. */
export function prepareUpdate(
	kind: AnyRecordKind,
	before: Values,
	given: Values,
): Values {
	const different = Object.fromEntries(
		Object.entries(withoutAbsent(given)).filter(
			([name, value]) => !isSameField(kind, name, value, before[name]),
		),
	);
	if (Object.keys(different).length > 0) {
		checkRecord(kind, { ...before, ...different });
	}
	return different;
}

/** Stores prepared values as a new record, and gives it whole. */
export async function storeNew(
	context: Context,
	kind: AnyRecordKind,
	values: Values,
): Promise<Values> {
	const id = await insertNew(context, kind, values);
	const [added] = await noteStored(context, kind, [{ id }]);
	return added as Values;
}

/** Stores prepared values, at least one, in a record that is locked, and gives it whole. */
export async function storeUpdate(
	context: Context,
	kind: AnyRecordKind,
	before: Values,
	different: Values,
): Promise<Values> {
	const id = await updateLocked(context, kind, before, different);
	const [after] = await noteStored(context, kind, [{ id, before }]);
	return after as Values;
}

/** Stores a new record; to be followed by noteStored. Gives its id. */
export async function insertNew(
	{ client, membership: { organizationId } }: Context,
	kind: AnyRecordKind,
	values: Values,
): Promise<string> {
	const id = makeId(organizationId, kind.kind);
	await insertRecord(client, kind, organizationId, id, values);
	return id;
}

/** Changes a record; to be followed by noteStored. Gives its id. */
export async function updateLocked(
	{ client, membership: { organizationId } }: Context,
	kind: AnyRecordKind,
	before: Values,
	different: Values,
): Promise<string> {
	const id = String(before.id);
	await updateRecord(client, kind, organizationId, id, different);
	return id;
}

/**
 * Notes for the audit log what has become of records, each with its state before or, if it is
 * new, without. Reads them in one statement, and gives them whole, in the order asked for.
 */
export async function noteStored(
	context: Context,
	kind: AnyRecordKind,
	stored: { id: string; before?: Values }[],
): Promise<Values[]> {
	const { client, membership } = context;
	const ids = stored.map(({ id }) => id);
	const found = await findRecords(client, kind, membership.organizationId, ids);
	return stored.map(({ id, before }) => {
		const after = found.get(id);
		if (!after) throw notFound(id);
		context.changed(changeOf(kind, before, after));
		return after;
	});
}

/** The record, which must exist: not_found otherwise. */
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

/** What differs between two states of a record; undefined: it was not there. */
export function changeOf(
	kind: AnyRecordKind,
	before: Values | undefined,
	after: Values | undefined,
): Change {
	const record = after ?? before ?? {};
	const fields: Change["fields"] = {};
	for (const name of Object.keys(kind.fields)) {
		if (isSame(before?.[name] ?? null, after?.[name] ?? null)) continue;
		fields[name] = {
			...(before && { before: before[name] }),
			...(after && { after: after[name] }),
		};
	}
	const title = kind.title ? record[kind.title] : undefined;
	return {
		kind: kind.kind,
		id: String(record.id),
		name: typeof title === "string" ? title : null,
		fields,
	};
}

export function mapFields<Result>(
	fields: Fields,
	map: (field: Field, name: string) => Result,
): Record<string, Result> {
	return Object.fromEntries(
		Object.entries(fields).map(([name, field]) => [name, map(field, name)]),
	);
}

/** The fields that a caller may give. */
export function givenFields(kind: AnyRecordKind): Fields {
	return Object.fromEntries(
		Object.entries(kind.fields).filter(([, { given }]) => given !== "computed"),
	);
}

function describeInitial({ description, initial }: Field): string {
	return typeof initial === "string" || typeof initial === "number"
		? `${description}; ${initial} unless given`
		: description;
}

function checkRecord(kind: AnyRecordKind, record: Values): void {
	const issues = kind.check?.(record) ?? [];
	if (issues.length > 0) throw badFields(issues);
}

function withoutAbsent(values: Values): Values {
	return Object.fromEntries(
		Object.entries(values).filter(([, value]) => value !== undefined),
	);
}

/** References to several records have no order: the same ones in another are no change. */
function isSameField(
	kind: AnyRecordKind,
	name: string,
	given: unknown,
	before: unknown,
): boolean {
	return kind.fields[name]?.join && Array.isArray(given)
		? isSame([...given].sort(), before)
		: isSame(given, before);
}

function isSame(a: unknown, b: unknown): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}
