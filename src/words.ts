import type { PoolClient } from "pg";

const MAX_WORDS = 8;

/** Up to so many records are found by the index on their text; beyond, by walking the list's order. */
const FEW = 1000;

/**
 * The ids of the records that contain all words, if they are few. Rare words are found by
 * the index; of common ones, the next page is soon full when rows are read in order.
 */
export async function findFew(
	client: PoolClient,
	table: string,
	words: string[],
): Promise<string[] | undefined> {
	const { rows } = await client.query<{ ids: string[] }>({
		name: "find_records",
		text: "select array(select find_records($1, $2, $3)) as ids",
		values: [table, words, FEW + 1],
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

/** What no stored text contains must not reach the database, which would refuse it. */
export function storable(text: string): string {
	return text.replaceAll("\0", "\ufffd").toWellFormed();
}
