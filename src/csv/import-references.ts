import type { PoolClient } from "pg";
import { type IdKind, kindNoun, parseId } from "../id.ts";
import { missingReference } from "../records/store.ts";
import { storable } from "../records/text-match.ts";
import { recordKinds } from "../registers/all.ts";

/** The id of the record that a cell names, or the reason why the cell names none. */
export type Reference = { id: string } | { issue: string };

/** The texts in reference columns, by the kind of record that they should name. */
export type Wanted = Map<IdKind, Set<string>>;

/** The record that each text in the file names. */
export type References = Map<IdKind, Map<string, Reference>>;

/**
 * Finds the records that reference columns name: by id, by e-mail address (for people), or by name.
 * Each kind of record takes one statement, however many cells there are.
 */
export async function findReferences(
	client: PoolClient,
	organizationId: string,
	wanted: Wanted,
): Promise<References> {
	const found: References = new Map();
	for (const [kind, texts] of wanted) {
		const ways = waysToName(kind);
		const asked = [...texts].filter((text) => text === storable(text));
		const { rows } = await client.query<{
			text: string;
			way: number;
			ids: string[];
		}>(
			ways.sql
				.map(
					(sql, way) => `
				select g.text, ${way} as way, array_agg(t.id::text) as ids
				from unnest($2::text[]) g (text)
				join ${ways.table} t on t.organization_id = $1 and ${sql}
				group by g.text`,
				)
				.join(" union all ")
				.concat(" order by way desc"),
			[organizationId, asked],
		);
		const byText = new Map<string, Reference>();
		for (const text of texts) {
			byText.set(text, { issue: missing(kind, text) });
		}
		// The rows are ordered so that the most certain match comes last and replaces the others.
		for (const { text, ids } of rows) {
			const [id] = ids;
			byText.set(
				text,
				id !== undefined && ids.length === 1
					? { id }
					: {
							issue: several(kind, text, ids.length),
						},
			);
		}
		found.set(kind, byText);
	}
	return found;
}

function waysToName(kind: IdKind): { table: string; sql: string[] } {
	const named = recordKinds.find((known) => known.kind === kind);
	if (!named) throw new Error(`there is no kind of record ${kind}`);
	return {
		table: named.table,
		sql: [
			"t.id = g.text",
			...(kind === "people"
				? ["lower(t.primary_email_address) = lower(g.text)"]
				: []),
			`lower(t.${named.title}) = lower(g.text)`,
		],
	};
}

function several(kind: IdKind, text: string, count: number): string {
	const shown = `"${text.slice(0, 80)}"`;
	if (kind !== "people")
		return `${count} records are called ${shown}; give the id`;
	return text.includes("@")
		? `${count} people have the e-mail address ${shown}; give the id`
		: `${count} people are called ${shown}; give the e-mail address or the id`;
}

function missing(kind: IdKind, text: string): string {
	return parseId(text)
		? missingReference("", kind, text).message
		: `there is no ${kindNoun(kind)} "${text.slice(0, 80)}" in this organization; give ${kind === "people" ? "the e-mail address, " : "the "}name or id of one that exists`;
}
