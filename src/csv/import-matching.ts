import type { PoolClient } from "pg";
import { badFields } from "../errors.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { columnsOf } from "../records/result-rows.ts";
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

/** The records that each text in the file names. */
export type Matches = ReadonlyMap<string, Values[]>;

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
	return text.trim() === "" ? undefined : by === "id" ? text.trim() : text;
}

/**
 * Returns the records that the lines name. This takes one statement. With `lock`, it also locks
 * them for a change.
 */
export async function findMatches(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	file: CsvFile,
	by: MatchBy,
	lock: boolean,
): Promise<Matches> {
	const matches = new Map<string, Values[]>();
	if (by === "none") return matches;
	const texts = new Set(
		file.lines
			.map(({ cells }) => matchText(cells, by))
			.filter((text) => text !== undefined && canBeStored(text)),
	);
	// Ids and reference ids must match exactly, and the query can use an index. For e-mail addresses
	// and names, upper and lower case make no difference.
	const isExact = by === "id" || by === "reference_id";
	const { rows } = await client.query(
		`select g.text as match_text, ${columnsOf(kind)}
		from unnest($2::text[]) g (text)
		join ${kind.table} t on t.organization_id = $1
			and ${isExact ? `t.${by} = g.text` : `lower(t.${by}) = lower(g.text)`}
		order by t.id ${lock ? "for update of t" : ""}`,
		[organizationId, [...texts]],
	);
	for (const { match_text, ...row } of rows) {
		const found = matches.get(match_text) ?? [];
		found.push(row);
		matches.set(match_text, found);
	}
	return matches;
}

/** True if a record may have this text as its id, reference id, address or name. */
function canBeStored(text: string): boolean {
	return text.length <= MAX_NAME && text === storable(text);
}

/**
 * Counts the new records whose name an existing record of the kind already has. Upper and lower
 * case make no difference.
 */
export async function countKnownNames(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	plan: readonly { outcome: string; values: Values }[],
): Promise<number> {
	const { title } = kind;
	if (title === undefined) return 0;
	const names = plan
		.filter(({ outcome }) => outcome === "ADD")
		.map(({ values }) => values[title])
		.filter((name) => typeof name === "string" && name !== "");
	if (names.length === 0) return 0;
	const { rows } = await client.query<{ count: number }>(
		`select count(*)::int as count from unnest($2::text[]) g (text)
		where lower(g.text) in (select lower(t.${title}) from ${kind.table} t where t.organization_id = $1)`,
		[organizationId, names],
	);
	return rows[0]?.count ?? 0;
}

/**
 * Returns the file's reference ids that existing records already have, each with the id of its
 * record.
 */
export async function findTaken(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	file: CsvFile,
): Promise<ReadonlyMap<string, string>> {
	if (!file.headings.has("reference_id")) return new Map();
	const texts = file.lines
		.map(({ cells }) => cells.get("reference_id") ?? "")
		.filter((text) => text !== "" && canBeStored(text));
	const { rows } = await client.query<{ reference_id: string; id: string }>(
		`select t.reference_id, t.id from ${kind.table} t where t.organization_id = $1 and t.reference_id = any($2)`,
		[organizationId, texts],
	);
	return new Map(rows.map((row) => [row.reference_id, row.id]));
}
