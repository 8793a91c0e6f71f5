import type { PoolClient } from "pg";
import { textArray } from "../db/array.ts";

const MAX_WORDS = 8;

/** Length of the parts of words in the index of the texts. */
const TRIGRAM = 3;

/** Number of rows of a list that are searched for the words before the text index is used. */
const WALKED = 300;

/**
 * Largest number of records that are taken from the text index. If more records match, the search
 * continues through the list itself.
 */
const FEW = 1000;

/**
 * The beginning of a statement that selects the next rows of a list in its order, up to its limit.
 */
export interface Walk {
	/** Name of the prepared statement. Undefined means that the statement is not prepared. */
	name: string | undefined;
	/** SQL as it is written after `from`. Its rows have the alias `t`. */
	from: string;
	conditions: readonly string[];
	/** The expression by which the list is ordered. */
	place: string;
	values: readonly unknown[];
	direction: "ASC" | "DESC";
}

/** Ids that include those of the wanted rows. */
export interface Few {
	ids: string[];
	/** True if the ids include those of all rows that match, and not only of the next ones. */
	isAll: boolean;
}

/**
 * Returns ids that include those of the next `count` rows that match the words. Returns undefined if
 * too many rows match. If the words are common, the first rows of the list are enough for a page.
 * Otherwise the words are rare, and the text index of the table finds all rows that contain them.
 */
export async function findFew(
	client: PoolClient,
	table: string,
	{ textOnly, conditions }: Match,
	count: number,
	walk: Walk,
): Promise<Few | undefined> {
	const values = [...walk.values];
	const parameter = (value: unknown) => `$${values.push(value)}`;
	const given = `${parameter(textArray(textOnly))}::text[]`;
	const wanted = parameter(count);
	const { rows } = await client.query<{ ids: string[]; is_all: boolean }>({
		name: walk.name,
		// PostgreSQL evaluates only one of the two arrays.
		text: `
			with walked as materialized (
				select t.id, ${walk.place} as place, ${conditions(parameter).join(" and ")} as is_hit
				from ${walk.from}
				where ${walk.conditions.join(" and ")}
				order by ${walk.place} ${walk.direction}, t.id ${walk.direction}
				limit ${WALKED}
			),
			hits as materialized (
				select w.id from walked w where w.is_hit
				order by w.place ${walk.direction}, w.id ${walk.direction}
				limit ${wanted}
			),
			enough as materialized (
				select (select count(*) from hits) = ${wanted} or (select count(*) from walked) < ${WALKED} as is_it
			)
			select
				case
					when is_it then array(select h.id::text from hits h)
					else array(select find_records('${table}', ${given}, ${FEW + 1}))
				end as ids,
				not is_it as is_all
			from enough`,
		values,
	});
	const { ids, is_all: isAll } = rows[0] ?? { ids: [], is_all: false };
	return ids.length > FEW ? undefined : { ids, isAll };
}

/** Returns the words of a search text, in a form that the database accepts. */
export function wordsOf(query: string): string[] {
	return storable(query).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

/** Largest number of people whose names may contain a word of a query. */
const MAX_PEOPLE = 200;

/** Returns conditions on a row `t` and adds their parameters to a statement. */
export type Conditions = (parameter: (value: unknown) => string) => string[];

/** Where a search looks for words, and texts that it reads besides those of a row. */
export interface Searched {
	/** The table in which find_records searches for words. If it is absent, a search reads every row. */
	searched?: string | undefined;
	/** Columns of `t` that hold people. A search also finds their names. */
	people?: readonly string[] | undefined;
	/** A column of `t` with few different texts, and its table. A search also finds these texts. */
	repeated?: { table: string; column: string } | undefined;
}

/** How the rows of a list match the words of a search. */
export interface Match {
	conditions: Conditions;
	/** Words that only the rows' own texts contain, so that an index of the texts finds all rows. */
	textOnly: string[];
	/** True if all words are such words. */
	isTextOnly: boolean;
}

/**
 * Returns the conditions of a search: every word occurs in t.search_text, in the name of a person
 * in one of the columns, or in a repeated text. Case and accents make no difference.
 */
export async function matchWords(
	client: PoolClient,
	words: string[],
	{ searched, people: columns = [], repeated }: Searched,
): Promise<Match> {
	const none = new Map<string, string[]>();
	const people =
		words.length > 0 && columns.length > 0
			? await findPeople(client, words)
			: none;
	const texts =
		words.length > 0 && repeated
			? await findRepeated(client, words, repeated)
			: none;
	const textOnly = words.filter(
		(word) => !people.has(word) && !texts.has(word),
	);
	const others = words.filter((word) => !textOnly.includes(word));
	// Other words narrow the search down. The index of the texts finds no shorter parts of words.
	const isLong = others.every((word) => word.length >= TRIGRAM);
	const own =
		searched && others.length > 0 && textOnly.length === 0 && isLong
			? await findOwn(client, searched, others)
			: none;
	return {
		textOnly,
		isTextOnly: others.length === 0,
		conditions: (parameter) => [
			...(textOnly.length > 0
				? [containsAll(parameter(textArray(textOnly)))]
				: []),
			...others.map((word) => {
				const isIn = (
					found: string[] | undefined,
					names: readonly string[],
				) => {
					if (!found) return [];
					const given = `${parameter(textArray(found))}::text[]`;
					return names.map((name) => `t.${name} = any(${given})`);
				};
				const ids = own.get(word);
				return `(${[
					ids
						? isOneOf(ids, parameter)
						: `t.search_text like search_pattern(${parameter(word)})`,
					...isIn(people.get(word), columns),
					...isIn(texts.get(word), repeated ? [repeated.column] : []),
				].join(" or ")})`;
			}),
		],
	};
}

/** Condition that a row contains all words. The patterns are computed once and not for each row. */
const containsAll = (words: string) =>
	`t.search_text like all (array(select search_pattern(word) from unnest(${words}::text[]) word))`;

/**
 * Returns the ids of the rows whose own texts contain a word, by the word. Leaves out words that too
 * many rows contain. With the ids, PostgreSQL finds the rows in its indexes although they may also
 * match by a person's name. It could not use the index of the texts behind row-level security.
 */
async function findOwn(
	client: PoolClient,
	table: string,
	words: string[],
): Promise<Map<string, string[]>> {
	const { rows } = await client.query<{ word: string; ids: string[] }>({
		name: `words.${table}`,
		text: `
			select w.word, array(select find_records('${table}', array[w.word], ${FEW + 1})) as ids
			from unnest($1::text[]) w (word)`,
		values: [textArray(words)],
	});
	const few = rows.filter(({ ids }) => ids.length <= FEW);
	return new Map(few.map(({ word, ids }) => [word, ids]));
}

/**
 * Condition that a row has one of these ids. If the condition used the array directly, PostgreSQL's
 * planner would read the organization's whole index.
 */
export const isOneOf = (
	ids: string[],
	parameter: (value: unknown) => string,
): string =>
	`t.id = any(array(select unnest(${parameter(textArray(ids))}::text[])))`;

/** Largest number of different texts of a column that may contain a word. */
const MAX_REPEATED = 200;

/**
 * Returns the different texts of a column by the word that they contain. Each is looked up in the
 * column's index after the one before, so it takes as many steps as there are different texts.
 */
async function findRepeated(
	client: PoolClient,
	words: string[],
	{ table, column }: { table: string; column: string },
): Promise<Map<string, string[]>> {
	const { rows } = await client.query<{ word: string; texts: string[] }>({
		name: `repeated.${table}.${column}`,
		text: `
			with recursive texts (text) as (
				select min(x.${column}) from ${table} x
				where x.organization_id = current_setting('assay.organization_id')
				union all
				select (
					select min(x.${column}) from ${table} x
					where x.organization_id = current_setting('assay.organization_id')
						and x.${column} > t.text
				)
				from texts t where t.text is not null
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
			cross join lateral find_records('people', array[w.word], ${MAX_PEOPLE}) f (id)
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
