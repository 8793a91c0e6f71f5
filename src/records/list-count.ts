import type { PoolClient } from "pg";
import { z } from "zod";
import { textArray } from "../db/array.ts";
import {
	type Conditions,
	type Few,
	isOneOf,
	type Match,
} from "./text-match.ts";

/** Largest number of records that a list counts. A statement that counts stops at one more. */
export const COUNTED = 10_000;

/** The fields of a result that say how many records match. */
export const totalShape = {
	total: z
		.int()
		.describe(`Records that match, when page one was read; at most ${COUNTED}`),
	total_is_exact: z.boolean().describe(`False: more than ${COUNTED} match`),
};

/** Returns the number of records in a list for its result. */
export function totalOf(counted: number): {
	total: number;
	total_is_exact: boolean;
} {
	return {
		total: Math.min(counted, COUNTED),
		total_is_exact: counted <= COUNTED,
	};
}

/** The part of a statement that selects the rows that match the filters. */
export interface Matching {
	values: unknown[];
	conditions: string[];
	parameter: (value: unknown) => string;
	/** Returns the name of a prepared statement, or undefined if it is not worth preparing. */
	name: (kind: string) => string | undefined;
}

export interface Counted {
	/** SQL as it is written after `from`. Its rows have the alias `t`. */
	from: string;
	/** The table in which find_records searches for words. */
	searched?: string | undefined;
	/** Condition of the rows that the list shows. By default it shows all. */
	shown?: string | undefined;
	/** Begins a statement. Its conditions do not concern the words, nor what the list shows. */
	begin: () => Matching;
	words: string[];
	inWords: Match;
	/** Ids that include those of the rows that have all words, if somebody has found them already. */
	few?: Few | undefined;
}

/**
 * Counts the records that match, up to one more than COUNTED. The indexes of a register have its
 * choices and archived_at, so a count by these and by one other filter reads an index alone. A search
 * also reads the table, and so does a category with a digit.
 */
export async function countMatching(
	client: PoolClient,
	list: Counted,
): Promise<number> {
	const { words, inWords, few } = list;
	const shown = list.shown === undefined ? [] : [list.shown];
	if (words.length === 0) return countRows(client, list, () => shown, ".count");
	if (few?.isAll) {
		return countRows(client, list, (parameter) => [
			...shown,
			isOneOf(few.ids, parameter),
			...inWords.conditions(parameter),
		]);
	}
	const found =
		list.searched !== undefined && inWords.isTextOnly
			? await countFound(client, list, shown)
			: undefined;
	return (
		found ??
		countRows(client, list, (parameter) => [
			...shown,
			...inWords.conditions(parameter),
		])
	);
}

async function countRows(
	client: PoolClient,
	{ from, begin }: Counted,
	further: Conditions,
	name?: string,
): Promise<number> {
	const matching = begin();
	const conditions = [...matching.conditions, ...further(matching.parameter)];
	const { rows } = await client.query<{ count: number }>({
		name: name && matching.name(name),
		text: `
			select count(*)::int as count from (
				select from ${from}
				where ${conditions.join(" and ")}
				limit ${COUNTED + 1}
			) counted`,
		values: matching.values,
	});
	return rows[0]?.count ?? 0;
}

/**
 * Counts the records that the index of the texts finds and that match the filters. Returns undefined
 * if the index finds too many, and those that it has returned do not tell the number.
 */
async function countFound(
	client: PoolClient,
	{ from, searched, begin, words }: Counted,
	shown: string[],
): Promise<number | undefined> {
	const { values, conditions, parameter } = begin();
	const given = `${parameter(textArray(words))}::text[]`;
	const { rows } = await client.query<{ found: number; count: number }>({
		text: `
			with hits as materialized (
				select array(select find_records('${searched}', ${given}, ${COUNTED + 1})) as ids
			)
			select cardinality(h.ids) as found, (
				select count(*)::int from ${from}
				where ${[...conditions, ...shown].join(" and ")} and t.id = any(h.ids)
			) as count
			from hits h`,
		values,
	});
	const { found, count } = rows[0] ?? { found: 0, count: 0 };
	return found <= COUNTED || count > COUNTED ? count : undefined;
}
