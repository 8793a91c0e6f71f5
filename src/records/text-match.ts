import type { PoolClient } from "pg";
import { textArray } from "../db/array.ts";

const MAX_WORDS = 8;

/** Number of rows of a list that are searched for the words before the text index is used. */
const WALKED = 300;

/**
 * Largest number of records that are taken from the text index. If more records match, the search
 * continues through the list itself.
 */
const FEW = 1000;

/**
 * A statement that selects the next rows of a list in its order. It returns `id`, `place` (the
 * value by which the list is ordered) and `search_text`.
 */
export interface Walk {
	/** Name of the prepared statement. Undefined means that the statement is not prepared. */
	name: string | undefined;
	text: string;
	values: readonly unknown[];
	direction: "ASC" | "DESC";
}

/**
 * Returns ids that include those of the next `count` rows with all words. Returns undefined if too
 * many rows match. If the words are common, the first rows of the list are enough for a page.
 * Otherwise the words are rare, and the text index finds all rows that contain them.
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
		// The patterns are computed once and not for each row. PostgreSQL evaluates only one of the two
		// arrays.
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

/** Returns the words of a search text, in a form that the database accepts. */
export function wordsOf(query: string): string[] {
	return storable(query).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

/** Largest number of people whose names may contain a word of a query. */
const MAX_PEOPLE = 200;

/** Returns conditions on a row `t` and adds their parameters to a statement. */
export type Conditions = (parameter: (value: unknown) => string) => string[];

/** Texts that a search reads besides those of a row. */
export interface Searched {
	/** Columns of `t` that hold people. A search also finds their names. */
	people?: readonly string[] | undefined;
	/** A column of `t` with few different texts, and its table. A search also finds these texts. */
	repeated?: { table: string; column: string } | undefined;
}

/**
 * Returns the conditions of a search: every word occurs in t.search_text, in the name of a person
 * in one of the columns, or in a repeated text. Case and accents make no difference. `isTextOnly`
 * is true if no person has such a name and no repeated text has such a word, so that an index of
 * the texts finds all rows.
 */
export async function matchWords(
	client: PoolClient,
	words: string[],
	{ people: columns = [], repeated }: Searched,
): Promise<{ isTextOnly: boolean; conditions: Conditions }> {
	const none = new Map<string, string[]>();
	const people =
		words.length > 0 && columns.length > 0
			? await findPeople(client, words)
			: none;
	const texts =
		words.length > 0 && repeated
			? await findRepeated(client, words, repeated)
			: none;
	return {
		isTextOnly: people.size === 0 && texts.size === 0,
		conditions: (parameter) =>
			words.map((word) => {
				const inText = `t.search_text like search_pattern(${parameter(word)})`;
				const isIn = (
					found: string[] | undefined,
					names: readonly string[],
				) => {
					if (!found) return [];
					const given = `${parameter(textArray(found))}::text[]`;
					return names.map((name) => `t.${name} = any(${given})`);
				};
				const held = [
					...isIn(people.get(word), columns),
					...isIn(texts.get(word), repeated ? [repeated.column] : []),
				];
				return held.length === 0
					? inText
					: `(${[inText, ...held].join(" or ")})`;
			}),
	};
}

/** Largest number of different texts of a column that may contain a word. */
const MAX_REPEATED = 200;

/** Returns the different texts of a column by the word that they contain. */
async function findRepeated(
	client: PoolClient,
	words: string[],
	{ table, column }: { table: string; column: string },
): Promise<Map<string, string[]>> {
	const { rows } = await client.query<{ word: string; texts: string[] }>({
		name: `repeated.${table}.${column}`,
		text: `
			with texts as materialized (
				select distinct x.${column} as text from ${table} x
				where x.organization_id = current_setting('assay.organization_id')
			)
			select w.word, (array_agg(t.text))[:${MAX_REPEATED}] as texts
			from unnest($1::text[]) w (word)
			join texts t on search_fold(t.text) like search_pattern(w.word)
			group by w.word`,
		values: [textArray(words)],
	});
	return new Map(rows.map(({ word, texts }) => [word, texts]));
}

/** Returns the ids of the organization's people by the word that is in their name. */
async function findPeople(
	client: PoolClient,
	words: string[],
): Promise<Map<string, string[]>> {
	const { rows } = await client.query<{ word: string; ids: string[] }>({
		name: "people.words",
		text: `
			select w.word, array_agg(p.id::text) as ids
			from unnest($1::text[]) w (word)
			cross join lateral (select find_records('people', array[w.word], ${MAX_PEOPLE})) f (id)
			join people p on p.organization_id = current_setting('assay.organization_id') and p.id = f.id
			where search_fold(p.full_name) like search_pattern(w.word)
			group by w.word`,
		values: [textArray(words)],
	});
	return new Map(rows.map(({ word, ids }) => [word, ids]));
}

/** Replaces characters that the database would reject. No stored text contains these characters. */
export function storable(text: string): string {
	return text.replaceAll("\0", "\ufffd").toWellFormed();
}
