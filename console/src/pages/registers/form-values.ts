import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { shownValue } from "../../parts/records/undecided.ts";
import { fromLocalTime, toLocalTime } from "./local-time.ts";

/** The types of fields that people change often, in a list or in many records at once. */
export const QUICK_TYPES: ReadonlySet<string> = new Set([
	"choice",
	"reference",
	"date",
]);

/** Types of fields that can be changed in many records at once, besides QUICK_TYPES. */
const SHARED_TYPES: ReadonlySet<string> = new Set([
	"name",
	"integer",
	"references",
]);
/** Fields that identify one record, besides the title. */
const OF_ONE_RECORD: ReadonlySet<string> = new Set([
	"reference_id",
	"title",
	"legal_name",
]);

/** Returns the fields that can be changed in many records at once. */
export function bulkFields(kind: KindDescription): FieldDescription[] {
	return givenFields(kind).filter(
		({ name, type }) =>
			(QUICK_TYPES.has(type) || SHARED_TYPES.has(type)) &&
			name !== kind.title &&
			!OF_ONE_RECORD.has(name),
	);
}

/** A value as an input of the form holds it. An empty text is "", and an empty choice is null. */
export type FormValue = string | number | string[] | null;
export type FormValues = Record<string, FormValue>;

/** Returns the fields that a user can fill in. */
export function givenFields(kind: KindDescription): FieldDescription[] {
	return kind.fields.filter(({ given }) => given !== "computed");
}

/**
 * Returns the initial values of the form. They come from the record that is edited. For a new
 * record, they come from the address or are the defaults.
 */
export function toFormValues(
	kind: KindDescription,
	record: AnyRecord | undefined,
	given: Record<string, string> = {},
): FormValues {
	return Object.fromEntries(
		givenFields(kind).map((field) => {
			const value = record
				? shownValue(record, field.name)
				: (given[field.name] ?? field.initial);
			return [field.name, toFormValue(field, value)];
		}),
	);
}

/** Returns a record's value in the form that an input holds. */
export function toFormValue(
	{ type }: FieldDescription,
	value: unknown,
): FormValue {
	switch (type) {
		case "references":
		case "names":
		case "emails":
		case "countries":
			return Array.isArray(value) ? value : [];
		case "checks":
			return Array.isArray(value) ? value : null;
		case "choice":
		case "check":
		case "reference":
			return typeof value === "string" ? value : null;
		case "integer":
			return typeof value === "number" ? value : null;
		case "datetime":
			return typeof value === "string" ? toLocalTime(value) : "";
		default:
			return typeof value === "string" ? value : "";
	}
}

/**
 * Returns the values of a new record. Empty fields are left out; the server says which ones are
 * required.
 */
export function toNew(
	kind: KindDescription,
	values: FormValues,
): Record<string, unknown> {
	return Object.fromEntries(
		givenFields(kind)
			.map((field) => [field.name, toInput(field, values[field.name])] as const)
			.filter(([, value]) => value !== "" && value !== null),
	);
}

/**
 * Returns the fields whose values differ from the record. A field that was emptied is null if the
 * field allows null.
 */
export function toChanges(
	kind: KindDescription,
	values: FormValues,
	record: AnyRecord,
): Record<string, unknown> {
	const before = toFormValues(kind, record);
	return Object.fromEntries(
		givenFields(kind)
			.filter(({ name }) => !isSame(values[name], before[name]))
			.map((field) => [
				field.name,
				toStored(field, values[field.name] ?? null),
			]),
	);
}

/** Returns the value that replaces the one of a record. A field that was emptied is null. */
export function toStored(field: FieldDescription, value: FormValue): unknown {
	const given = toInput(field, value);
	return given === "" && field.isNullable ? null : given;
}

/** Returns the value of a field in the form that the server accepts. */
function toInput({ type }: FieldDescription, value: FormValue | undefined) {
	return type === "datetime" && typeof value === "string"
		? fromLocalTime(value)
		: value;
}

export function isSame(a: unknown, b: unknown): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}
