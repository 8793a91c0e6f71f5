import { recordKinds } from "../registers/all.ts";
import type { AnyRecordKind } from "./kind.ts";
import { nameSql } from "./record-name.ts";

/** Largest number of characters of one value. */
const MAX_VALUE = 200;

/** Returns the fields whose values tell records of the same name apart. */
export function besideName({ beside, fields, due }: AnyRecordKind): string[] {
	if (beside) return [...beside];
	const names = Object.keys(fields);
	return [
		names.find((name) => name === "status" || name === "state"),
		names.find(
			(name) => fields[name]?.reference === "people" && !fields[name]?.join,
		),
		due?.date,
	].filter((name) => name !== undefined);
}

/** Returns the name of a value in the result: `owner_id` → `owner`, because it has a name. */
export const besideKey = (field: string) => field.replace(/_id$/, "");

/**
 * Returns SQL for an object with these values of a row `t` of the organization $1. A reference has
 * the name of its record. Fields without a value are left out.
 */
export function besideSql(kind: AnyRecordKind): string {
	return objectSql(
		besideName(kind).map((name) => [
			besideKey(name),
			valueSql(name, kind.fields[name]?.reference),
		]),
	);
}

/** SQL for the values of a device. */
export const DEVICE_BESIDE = objectSql([
	["status", "t.status"],
	["owner", valueSql("owner_id", "people")],
	["serial_number", valueSql("serial_number", undefined)],
]);

function valueSql(field: string, reference: string | undefined): string {
	if (!reference) return `left(t.${field}::text, ${MAX_VALUE})`;
	const named = recordKinds.find(({ kind }) => kind === reference);
	if (!named) throw new Error(`${field} names no kind of record`);
	return `(select left(${nameSql(named, "n")}, ${MAX_VALUE}) from ${named.table} n
		where n.organization_id = $1 and n.id = t.${field})`;
}

function objectSql(values: [key: string, sql: string][]): string {
	const pairs = values.map(([key, sql]) => `'${key}', ${sql}`);
	return `jsonb_strip_nulls(jsonb_build_object(${pairs.join(", ")}))`;
}
