import { badFields } from "../errors.ts";
import type { Change } from "../operation.ts";
import { givenFields, mapFields } from "./input.ts";
import { type AnyRecordKind, oncePerKind } from "./kind.ts";
import { recordName } from "./record-name.ts";

/**
 * The values of a record by the name of the field, as the database and the operations use them. A
 * stored record also has its id and times.
 */
export type Values = Record<string, unknown>;

/**
 * Returns all values of a new record: given, initial and derived ones. Throws bad_request if they
 * break a rule.
 */
export function prepareNew(kind: AnyRecordKind, given: Values): Values {
	const values = { ...initialValues(kind), ...withoutAbsent(given) };
	const complete = kind.complete ? kind.complete(values) : values;
	checkRecord(kind, complete);
	return complete;
}

const initialValues = oncePerKind((kind) =>
	mapFields(givenFields(kind), (field) => field.initial),
);

/**
 * Returns the given values that differ from the record's, and those that follow from them. There may
 * be none. Throws bad_request if
 * the changed record would break a rule.
 */
export function prepareUpdate(
	kind: AnyRecordKind,
	before: Values,
	given: Values,
): Values {
	const wanted = withoutAbsent(given);
	const different = Object.fromEntries(
		Object.entries({ ...wanted, ...kind.follow?.(before, wanted) }).filter(
			([name, value]) => !isSameField(kind, name, value, before[name]),
		),
	);
	if (Object.keys(different).length > 0) {
		checkRecord(kind, { ...before, ...different });
	}
	return different;
}

/**
 * Returns the difference between two states of a record. Undefined stands for a state in which the
 * record does not exist.
 */
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
	return {
		kind: kind.kind,
		id: String(record.id),
		name: recordName(kind, record),
		fields,
	};
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

/**
 * Returns true if two values of a field are equal. References to several records have no order, so
 * the same ids in another order count as equal.
 */
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
