import type { PoolClient } from "pg";
import { textArray } from "../db/array.ts";

const MAX_WORDS = 8;

/** So many of a list's next rows are looked through for words before an index is asked. */
const WALKED = 300;

/** Up to so many records are found by the index on their text; beyond, by reading the list on. */
const FEW = 1000;

/** The next rows of a list in its order: `id`, `place` (what the order is by) and `search_text`. */
export interface Walk {
	/** Name of the prepared statement. Undefined prepares none. */
	name: string | undefined;
	text: string;
	values: readonly unknown[];
	direction: "ASC" | "DESC";
}

/**
 * The ids among which the next `count` rows with all words are; undefined when they are too many
 * to say. Common words have filled a page within the first rows of the walk; where they have
 * not, the words are rare and the index finds them all.
 */
export async function findFew(
	client: PoolClient,
	table: string,
	words: string[],
	count: number,
	walk: Walk,
): Promise<string[] | undefined> {
	const values = [...walk.values];
	const parameter = (value: unknown) => `$${values.push(value)}`;
	const given = `${parameter(textArray(words))}::text[]`;
	const { rows } = await client.query<{ ids: string[] }>({
		name: walk.name,
		// The patterns are made once, not for each row; of the two arrays only one is.
		text: `
			with walked as materialized (${walk.text} limit ${WALKED}),
			hits as materialized (
				select w.id from walked w
				where w.search_text like all (array(select search_pattern(word) from unnest(${given}) word))
				order by w.place ${walk.direction}, w.id ${walk.direction}
				limit ${parameter(count)}
			)
			select case
				when (select count(*) from hits) = ${parameter(count)} or (select count(*) from walked) < ${WALKED}
				then array(select h.id::text from hits h)
				else array(select find_records('${table}', ${given}, ${FEW + 1}))
			end as ids`,
		values,
	});
	const ids = rows[0]?.ids ?? [];
	return ids.length > FEW ? undefined : ids;
}

/** The words of a query, as they can be asked of the database. */
export function wordsOf(query: string): string[] {
	return storable(query).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

/** Conditions on t.search_text: every word occurs, whatever its case and accents. */
export function matches(
	words: string[],
	parameter: (value: unknown) => string,
): string[] {
	return words.map(
		(word) => `t.search_text like search_pattern(${parameter(word)})`,
	);
}

/** Replaces characters that no stored text contains, because the database would reject them. */
export function storable(text: string): string {
	return text.replaceAll("\0", "\ufffd").toWellFormed();
}
