import { z } from "zod";
import { mapFields } from "./input.ts";
import { type AnyRecordKind, oncePerKind } from "./kind.ts";
import { namedKinds } from "./searchable-kinds.ts";
import { obvious } from "./shown-in-tool-list.ts";

/**
 * How much of each record a list returns. Brief rows have the fields that people decide by. AI
 * clients get them unless they ask for more, because a model pays for every word.
 */
export const DETAILS = ["brief", "full"] as const;
export type Detail = (typeof DETAILS)[number];

/** Longest text in a brief row. A longer one is cut and ends in "…". */
const MAX_BRIEF_TEXT = 200;

export const detailSchema = () =>
	z
		.enum(DETAILS)
		.optional()
		.meta(
			obvious(
				"full: all fields; brief (default over MCP): those to decide by, long texts cut",
			),
		);

/** Cuts a text to the length that brief rows allow, and never within a surrogate pair. */
export function shorten(text: string): string {
	return text.length > MAX_BRIEF_TEXT
		? `${text.slice(0, MAX_BRIEF_TEXT - 1).replace(/[\ud800-\udbff]$/, "")}…`
		: text;
}

/** Returns the schemas of all fields of a record in a result, with the names of its references. */
export function resultShape(kind: AnyRecordKind): Record<string, z.ZodType> {
	const fields = Object.entries(
		mapFields(kind.fields, ({ output, description }) =>
			output.describe(description),
		),
	).flatMap(([name, schema]): [string, z.ZodType][] => {
		const { reference, join } = kind.fields[name] ?? {};
		if (!reference) return [[name, schema]];
		return [
			[name, schema],
			[nameField(name), join ? z.array(z.string()) : z.string().nullable()],
		];
	});
	return {
		id: z.string(),
		organization_id: z.string(),
		...Object.fromEntries(fields),
		...Object.fromEntries(
			Object.entries(kind.derived ?? {}).map(([name, { output }]) => [
				name,
				output,
			]),
		),
		created_at: z.string(),
		updated_at: z.string(),
	};
}

/** Returns the schemas of a row in a list. A brief row lacks the optional ones. */
export function rowShape(kind: AnyRecordKind): Record<string, z.ZodType> {
	const brief = new Set(briefFields(kind));
	return Object.fromEntries(
		Object.entries(resultShape(kind)).map(([name, schema]) => [
			name,
			brief.has(name) ? schema : schema.optional(),
		]),
	);
}

/**
 * Returns the columns to select from a row `t`. Lists of references come from their own table, and
 * names from the records that are named.
 */
export function columnsOf(
	kind: AnyRecordKind,
	detail: Detail = "full",
): string {
	return columnLists(kind)[detail];
}

const columnLists = oncePerKind((kind): Record<Detail, string> => {
	const list = (detail: Detail, names: string[]) =>
		names.map((name) => columnOf(kind, name, detail)).join(", ");
	return {
		full: list("full", Object.keys(resultShape(kind))),
		brief: list("brief", briefFields(kind)),
	};
});

/**
 * Returns the field for names beside ids: `owner_id` → `owner_name`, `vendor_ids` → `vendor_names`.
 */
export function nameField(field: string): string {
	return field.replace(/_id(s?)$/, "_name$1");
}

function briefFields(kind: AnyRecordKind): string[] {
	return [
		"id",
		...kind.brief.flatMap((name) =>
			kind.fields[name]?.reference ? [name, nameField(name)] : [name],
		),
		...Object.entries(kind.derived ?? {}).flatMap(([name, { isBrief }]) =>
			isBrief ? [name] : [],
		),
	];
}

function columnOf(kind: AnyRecordKind, name: string, detail: Detail): string {
	const field = kind.fields[name];
	if (detail === "brief" && field?.type === "text") {
		return `case when length(t.${name}) > ${MAX_BRIEF_TEXT} then left(t.${name}, ${MAX_BRIEF_TEXT - 1}) || '…' else t.${name} end as ${name}`;
	}
	if (field) {
		return field.join
			? `${joined(kind, name, `j.${field.join.column}`)}::text[] as ${name}`
			: `t.${name}`;
	}
	const derived = kind.derived?.[name];
	if (derived) return `${derived.sql} as ${name}`;
	const named = Object.keys(kind.fields).find(
		(other) => kind.fields[other]?.reference && nameField(other) === name,
	);
	const reference = named && kind.fields[named];
	if (!reference) return `t.${name}`;
	const target = namedKinds.find((other) => other.kind === reference.reference);
	if (!target) throw new Error(`${kind.kind}.${named} names no kind of record`);
	const nameOf = (id: string) => `(
		select left(${target.nameOf("n")}, 1000) from ${target.table} n
		where n.organization_id = t.organization_id and n.id = ${id}
	)`;
	return reference.join
		? `${joined(kind, named, `coalesce(${nameOf(`j.${reference.join.column}`)}, '')`)} as ${name}`
		: `${nameOf(`t.${named}`)} as ${name}`;
}

/** Returns an array with a value for each reference of a list, in the order of the ids. */
function joined(kind: AnyRecordKind, name: string, value: string): string {
	const join = kind.fields[name]?.join;
	if (!join)
		throw new Error(`${kind.kind}.${name} is not a list of references`);
	return `array(
		select ${value} from ${join.table} j
		where j.organization_id = t.organization_id and j.${kind.kind}_id = t.id
		order by j.${join.column}
	)`;
}
