import type { PoolClient } from "pg";
import { textArray } from "../db/array.ts";

const MAX_WORDS = 8;

/** Rows of a list that are searched for words before an index is used. */
const WALKED = 300;

/** Most records that are found by the text index. If more match, the list itself is read on. */
const FEW = 1000;

/**
 * The next rows of a list in its order: `id`, `place` (the value it is ordered by), `search_text`.
 */
export interface Walk {
	/** Name of the prepared statement. Undefined prepares none. */
	name: string | undefined;
	text: string;
	values: readonly unknown[];
	direction: "ASC" | "DESC";
}

/**
 * Returns ids that contain the next `count` rows with all words. Returns undefined if there are too
 * many. Common words fill a page within the first rows of the walk. If they do not, the words are
 * rare and the index finds all rows that have them.
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
		// The patterns are made once and not for each row. Only one of the two arrays is evaluated.
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

/** Returns the words of a query in a form that the database accepts. */
export function wordsOf(query: string): string[] {
	return storable(query).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

/** Returns conditions on t.search_text: every word occurs, ignoring case and accents. */
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
