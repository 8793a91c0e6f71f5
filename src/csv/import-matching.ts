import type { PoolClient } from "pg";
import { badFields } from "../errors.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { readRecords } from "../records/store.ts";
import { findHolders } from "../records/taken-reference-ids.ts";
import { storable } from "../records/text-match.ts";
import { MAX_NAME } from "../records/text-schemas.ts";
import type { Values } from "../records/values.ts";
import type { CsvFile } from "./import-file.ts";

export const MATCH_BY = [
	"id",
	"reference_id",
	"primary_email_address",
	"full_name",
	"name",
	"requirement",
	"none",
] as const;
export type MatchBy = (typeof MATCH_BY)[number];

/** The record that a text names, or the first of them and their number. */
export interface Match {
	id: string;
	count: number;
}

/** The matches by the text in the file. A text that names no record has none. */
export type Matches = ReadonlyMap<string, Match>;

/**
 * Chooses the column by which lines find their record. The default is a column whose values
 * identify a record. A name is not the default, because controls of two frameworks often have the
 * same name.
 */
export function chooseMatch(
	kind: AnyRecordKind,
	{ headings }: CsvFile,
	asked: MatchBy | undefined,
): MatchBy {
	const sure: MatchBy[] = ["id", "reference_id", "primary_email_address"];
	const possible = MATCH_BY.filter(
		(name) =>
			name === "id" ||
			name === "none" ||
			name === kind.title ||
			(sure.includes(name) && name in kind.fields),
	);
	if (asked === undefined) {
		return sure.find((name) => headings.has(name)) ?? "none";
	}
	if (!possible.includes(asked)) {
		throw badFields([
			{
				field: "match_by",
				message: `must be one of ${possible.join(", ")} for ${kind.nouns}`,
			},
		]);
	}
	if (asked !== "none" && !headings.has(asked)) {
		throw badFields([
			{
				field: "match_by",
				message: `names the column ${asked}, which the file does not have; add the column, or match by another`,
			},
		]);
	}
	return asked;
}

/**
 * Returns the text with which a line names its record. Returns undefined if the line is a new
 * record.
 */
export function matchText(
	cells: ReadonlyMap<string, string>,
	by: MatchBy,
): string | undefined {
	const text = cells.get(by) ?? "";
	if (text.trim() === "") return undefined;
	return by === "id" || by === "reference_id" ? text.trim() : text;
}

/**
 * Returns which record each text in the file names. Reads no more of the records than their ids,
 * because all of them together may be hundreds of megabytes. With `lock`, it also locks the records
 * for a change.
 */
export async function findMatches(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	file: CsvFile,
	by: MatchBy,
	lock: boolean,
): Promise<Matches> {
	if (by === "none") return new Map();
	const texts = new Set(
		file.lines
			.map(({ cells }) => matchText(cells, by))
			.filter((text) => text !== undefined && canBeStored(text)),
	);
	const values = [organizationId, [...texts]];
	if (lock) {
		// Two imports lock the records that both change in the same order.
		await client.query(
			`with locked as (
				select t.id from ${kind.table} t
				where t.organization_id = $1 and exists (
					select from unnest($2::text[]) g (text) where ${keyOf(by, "t")} = ${keyOf(by)}
				)
				order by t.id for update of t
			)
			select count(*) from locked`,
			values,
		);
	}
	const { rows } = await client.query<Match & { text: string }>(
		by === "reference_id"
			? // Records from earlier versions may differ only in case. Then the spelling decides.
				`select g.text,
					(array_agg(t.id order by t.reference_id = g.text desc, t.id))[1] as id,
					case when bool_or(t.reference_id = g.text) then 1 else count(*)::int end as count
				from unnest($2::text[]) g (text)
				join ${kind.table} t on t.organization_id = $1 and ${keyOf(by, "t")} = ${keyOf(by)}
				group by g.text`
			: `with given as (
					select g.text, ${keyOf(by)} as key from unnest($2::text[]) g (text)
				), found as (
					select k.key, min(t.id) as id, count(*)::int as count
					from (select distinct key from given) k
					join ${kind.table} t on t.organization_id = $1 and ${keyOf(by, "t")} = k.key
					group by k.key
				)
				select given.text, found.id, found.count from given join found using (key)`,
		values,
	);
	return new Map(rows.map(({ text, ...match }) => [text, match]));
}

/**
 * Returns SQL for the value of a record `t`, or of a text `g.text` in the file, that the import
 * compares. Ids must match exactly. For reference ids, e-mail addresses and names, upper and lower
 * case make no difference. An index finds ids and reference ids.
 */
function keyOf(by: MatchBy, row?: "t"): string {
	const text = row ? `${row}.${by}` : "g.text";
	if (by === "id") return text;
	if (by !== "reference_id") return `lower(${text})`;
	const key = row ? `${row}.reference_id_key` : "sort_key(g.text)";
	return `(${key}, lower(${text}))`;
}

/** Returns the records with these ids by their id, each with all its columns. */
export async function readMatched(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	ids: readonly string[],
): Promise<ReadonlyMap<string, Values>> {
	if (ids.length === 0) return new Map();
	const rows = await readRecords(client, kind, organizationId, ids);
	return new Map(rows.map((row) => [String(row.id), row]));
}

/** True if a record may have this text as its id, reference id, address or name. */
function canBeStored(text: string): boolean {
	return text.length <= MAX_NAME && text === storable(text);
}

/** A record by its name. */
export interface NamedRecord {
	id: string;
	name: string;
}

/**
 * Returns the existing records of the kind that have one of the names, by the name. Upper and
 * lower case make no difference. If several records have a name, it is the oldest one.
 */
export async function findNames(
	client: PoolClient,
	{ title, table }: AnyRecordKind,
	organizationId: string,
	names: readonly string[],
): Promise<ReadonlyMap<string, NamedRecord>> {
	if (title === undefined || names.length === 0) return new Map();
	const { rows } = await client.query<NamedRecord & { key: string }>(
		`select distinct on (g.key) g.key, t.id, t.${title} as name
		from unnest($2::text[]) g (key)
		join ${table} t on t.organization_id = $1 and lower(t.${title}) = lower(g.key)
		order by g.key, t.created_at, t.id`,
		[organizationId, names],
	);
	return new Map(rows.map(({ key, ...record }) => [key, record]));
}

/**
 * Returns the file's reference ids that existing records already have, by their keys, each with the
 * id of its record.
 */
export async function findTaken(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	file: CsvFile,
): Promise<ReadonlyMap<string, string>> {
	if (!file.headings.has("reference_id")) return new Map();
	const texts = file.lines
		.map(({ cells }) => cells.get("reference_id")?.trim() ?? "")
		.filter((text) => text !== "" && canBeStored(text));
	return findHolders(client, kind, organizationId, texts);
}
