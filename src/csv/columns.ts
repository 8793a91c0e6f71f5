import type { z } from "zod";
import { CHECK_KEYS, isCanonicalCheck } from "../devices/terms.ts";
import type { AnyOperation } from "../operation.ts";
import { toHarmless, writeList } from "./text.ts";

export type Row = Record<string, unknown>;

/** A column of an exported list: its heading and its cells. */
export interface Column {
	heading: string;
	cell: (row: Row) => string;
}

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

/** Returns a column for each field of a row. */
export function columnsFor(fields: readonly string[]): Column[] {
	return fields.flatMap((name) =>
		name === "postures"
			? postureColumns()
			: [{ heading: name, cell: (row: Row) => writeValue(row[name]) }],
	);
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
	check_state: string | null;
}

/**
 * Returns two columns for each canonical check, its status and its state by the device policy, and
 * one column for all other checks.
 */
function postureColumns(): Column[] {
	const posturesOf = (row: Row) => row.postures as Posture[];
	const find = (row: Row, key: string) =>
		posturesOf(row).find(({ check_key }) => check_key === key);
	const stateOf = (row: Row, key: string) =>
		(row.missing_checks as string[] | undefined)?.includes(key)
			? "NOT_REPORTED"
			: find(row, key)?.check_state;
	return [
		...CHECK_KEYS.flatMap((key) => [
			{ heading: key, cell: (row: Row) => find(row, key)?.status ?? "" },
			{ heading: `${key}_state`, cell: (row: Row) => stateOf(row, key) ?? "" },
		]),
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
