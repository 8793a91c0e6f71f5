import type { z } from "zod";
import { CHECK_KEYS, isCanonicalCheck } from "../devices/terms.ts";
import type { AnyOperation } from "../operation.ts";
import { recordKinds } from "../registers/all.ts";
import { toHarmless, writeList } from "./text.ts";

export type Row = Record<string, unknown>;

/** A column of an exported list: its heading and its cells. */
export interface Column {
	heading: string;
	/**
	 * Returns the cell's text for a row. `names` contains the names of the records that the page
	 * refers to.
	 */
	cell: (row: Row, names: ReadonlyMap<string, string>) => string;
}

/** Names of fields that contain the ids of records with a name. */
const REFERENCES = new Set(
	recordKinds.flatMap(({ fields }) =>
		Object.keys(fields).filter((name) => fields[name]?.reference),
	),
);

/**
 * Returns the property of a list's result that contains its records, such as `risks` in {risks:
 * […], next_cursor}, and the fields of these records. Returns undefined if the operation is not a
 * list with pages.
 */
export function listedIn(
	operation: AnyOperation,
): { key: string; fields: string[] } | undefined {
	const { next_cursor, ...rest } = operation.output.shape as z.ZodRawShape;
	const [[key, array] = []] = Object.entries(rest);
	if (!operation.name.startsWith("list") || !next_cursor || !key) return;
	const { element } = array as z.ZodArray<z.ZodObject>;
	return { key, fields: Object.keys(element.shape) };
}

/**
 * Returns a column for each field. A field that contains ids gets a second column with the names.
 */
export function columnsFor(fields: readonly string[]): Column[] {
	return fields.flatMap((name): Column[] => {
		if (name === "postures") return postureColumns();
		const plain: Column = {
			heading: name,
			cell: (row) => writeValue(row[name]),
		};
		if (!REFERENCES.has(name)) return [plain];
		const nameOf: Column = {
			heading: nameHeading(name),
			cell: (row, names) => {
				const ids = row[name];
				return writeValue(
					Array.isArray(ids)
						? ids.map((id) => names.get(id)).filter(Boolean)
						: names.get(String(ids)),
				);
			},
		};
		return [plain, nameOf];
	});
}

/**
 * Returns the heading of the column with names: `owner_id` → `owner_name`, `vendor_ids` →
 * `vendor_names`.
 */
export function nameHeading(field: string): string {
	return field.replace(/_id(s?)$/, "_name$1");
}

/** Returns the ids in a row whose names another column shows. */
export function idsIn(row: Row, fields: readonly string[]): string[] {
	return fields
		.filter((name) => REFERENCES.has(name))
		.flatMap((name) => row[name])
		.filter((id) => typeof id === "string");
}

function writeValue(value: unknown): string {
	if (value === null || value === undefined) return "";
	if (Array.isArray(value) && value.every((one) => typeof one === "string")) {
		return toHarmless(writeList(value));
	}
	if (typeof value === "object") return toHarmless(JSON.stringify(value));
	return typeof value === "string" ? toHarmless(value) : String(value);
}

interface Posture {
	check_key: string;
	status: string;
}

/** Returns a column for each canonical check, and one column for all other checks. */
function postureColumns(): Column[] {
	const posturesOf = (row: Row) => row.postures as Posture[];
	return [
		...CHECK_KEYS.map((key) => ({
			heading: key,
			cell: (row: Row) =>
				posturesOf(row).find(({ check_key }) => check_key === key)?.status ??
				"",
		})),
		{
			heading: "other_checks",
			cell: (row) =>
				writeValue(
					posturesOf(row)
						.filter(({ check_key }) => !isCanonicalCheck(check_key))
						.map(({ check_key, status }) => `${check_key}: ${status}`),
				),
		},
	];
}
