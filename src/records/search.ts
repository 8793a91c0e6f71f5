import type { PoolClient } from "pg";
import { z } from "zod";
import { textArray } from "../db/array.ts";
import { defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "./as-of.ts";
import { organizationId, pageSize } from "./list-pages.ts";
import { DEFAULT_PAGE_SIZE } from "./page-sizes.ts";
import { wordForms } from "./plurals.ts";
import { type DistinctKind, namedKinds } from "./searchable-kinds.ts";
import { wordsOf } from "./text-match.ts";
import {
	hasMistyped,
	lettersIn,
	mayBeMistyped,
	mistypedPatterns,
} from "./typing-mistakes.ts";

/** Largest number of hits of each kind that are ranked. This limits the work for a common word. */
const RANKED = 1000;

/** Largest number of words of a query whose other forms are searched too: each doubles the work. */
const INFLECTED = 2;

/** Largest number of words of a query in which a typing mistake is looked for, the longest first. */
const MISTYPED = 3;

/**
 * Largest numbers of records: of each kind that the index finds for a mistyped word, of those whose
 * names the service compares, and of those that it returns.
 */
const SIMILAR = { found: 300, compared: 50, returned: 5 };

const KINDS = namedKinds.map(({ kind }) => kind) as [string, ...string[]];

const foundRecord = z.object({
	kind: z.enum(KINDS),
	id: z.string(),
	name: z.string().nullable(),
	updated_at: z.string(),
	details: z
		.record(z.string(), z.string())
		.describe(
			"Values that tell records of the same name apart, such as status, owner and due date",
		),
});

/**
 * Searches text in all kinds of records of an organization. This takes one statement, however many
 * kinds there are, and two more if nothing matches.
 */
export const searchRecords = defineOperation({
	name: "searchRecords",
	title: "Search records",
	description:
		"Find records of any kind by their own text (all words must occur, in singular or plural, whatever their case and accents), best match first. It does not find records by their owner: getRecordUses of the person does. With as_of, it finds what the records said then; devices have the names of today. Returns kind, id, name and details such as the status; read one with its get tool.",
	toolset: "search",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		query: z
			.string()
			.max(200, { abort: true })
			.refine((text) => text.trim() !== "", "must not be empty")
			.describe("Words to find"),
		kinds: z
			.array(z.enum(KINDS))
			.min(1)
			.max(KINDS.length)
			.optional()
			.describe("These kinds only; all by default"),
		size: pageSize(),
		...asOfShape,
	}),
	output: z.object({
		records: z.array(foundRecord),
		is_more: z
			.boolean()
			.describe("True if more records match. Ask for more specific words"),
		only_similar: z
			.array(foundRecord)
			.describe(
				`If nothing matches: at most ${SIMILAR.returned} records with a word in their name that differs by one typing mistake. They do not match. Always empty with as_of`,
			),
	}),
	run: async (context, input) => {
		const words = wordsOf(input.query);
		const kinds = namedKinds.filter(
			({ kind }) => !input.kinds || input.kinds.includes(kind),
		);
		if (kinds.length === 0 || words.length === 0)
			return { records: [], is_more: false, only_similar: [] };
		const size = input.size ?? DEFAULT_PAGE_SIZE;
		const { client } = await contextAsOf(context, input.as_of);
		const { rows } = await client.query<FoundRow>(
			`with wanted as materialized (
				select w.words, array(select search_pattern(word) from unnest(w.words) word) as patterns
				from (
					select array(select jsonb_array_elements_text(one.words)) as words
					from jsonb_array_elements($2::jsonb) one (words)
				) w
			)
			${selectFound(kinds, ({ kind, table }) => hits(kind, table, input.as_of))}`,
			[
				input.organization_id,
				JSON.stringify(alternatives(words)),
				words.join(" "),
				size + 1,
			],
		);
		const isFound = rows.length > 0 || input.as_of !== undefined;
		return {
			records: rows.slice(0, size).map(withoutFolded),
			is_more: rows.length > size,
			only_similar: isFound
				? []
				: await findSimilar(client, input.organization_id, kinds, words),
		};
	},
});

interface FoundRow extends z.input<typeof foundRecord> {
	/** The name in the form in which it is searched. */
	folded: string;
}

const withoutFolded = ({ folded: _, ...record }: FoundRow) => record;

/**
 * Returns SQL that selects the records of the kinds whose ids `idsOf` selects, with what the answer
 * says about each. Its parameters are the organization, what `idsOf` needs, the words and the limit.
 */
const selectFound = (
	kinds: readonly DistinctKind[],
	idsOf: (kind: DistinctKind) => string,
) => `, hit as (select kind, id, name, updated_at
	from (${kinds
		.map(
			(named) => `
		select '${named.kind}' as kind, t.id, left(${named.nameOf("t")}, 1000) as name, t.updated_at
		from ${named.table} t
		where t.organization_id = $1 and t.id = any(array(${idsOf(named)}))`,
		)
		.join(" union all ")}) any_hit
	${ORDER}
	limit $4)
	select kind, id, name, updated_at, search_fold(coalesce(name, '')) as folded, case kind ${kinds
		.map(
			({ kind, table, beside }) =>
				`when '${kind}' then (select ${beside} from ${table} t where t.organization_id = $1 and t.id = hit.id)`,
		)
		.join(" ")} end as details
	from hit ${ORDER}`;

/**
 * Returns records whose name has one of the words with one typing mistake, and whose texts have all
 * other words. An index finds them, as it finds hits.
 */
async function findSimilar(
	client: PoolClient,
	organization: string,
	kinds: readonly DistinctKind[],
	words: readonly string[],
): Promise<z.input<typeof foundRecord>[]> {
	const { rows } = await client.query<{ words: string[] }>(
		"select array(select search_fold(word) from unnest($1::text[]) word) as words",
		[textArray(words)],
	);
	const folded = (rows[0]?.words ?? []).flatMap(lettersIn);
	const tried = folded
		.map((word, at) => ({ word, words: folded.toSpliced(at, 1) }))
		.filter(({ word }) => mayBeMistyped(word))
		.toSorted((one, other) => other.word.length - one.word.length)
		.slice(0, MISTYPED);
	if (tried.length === 0) return [];
	const wanted = tried.map(({ word, words }) => ({
		words,
		patterns: mistypedPatterns(word),
	}));
	const found = await client.query<FoundRow>(
		`with wanted as materialized (
			select w.words, w.patterns
			from jsonb_to_recordset($2::jsonb) as w (words text[], patterns text[])
		)
		${selectFound(
			kinds,
			({ table }) => `select s.id from wanted w
				cross join lateral find_similar('${table}', w.words, w.patterns, ${SIMILAR.found}) s (id)`,
		)}`,
		[organization, JSON.stringify(wanted), words.join(" "), SIMILAR.compared],
	);
	return found.rows
		.filter(({ folded: name }) =>
			tried.some(({ word }) => hasMistyped(name, word)),
		)
		.slice(0, SIMILAR.returned)
		.map(withoutFolded);
}

/** The best match of the name first. */
const ORDER =
	"order by similarity(search_fold(coalesce(name, '')), search_fold($3)) desc, updated_at desc, id";

/**
 * Returns the words in all combinations of their forms, such as "policy review" and "policies
 * review". The text index looks for parts of words, so it finds the plural "controls" of a typed
 * "control" by itself. Lists and their filters take words as they are typed, because they count what
 * they find and must stay fast with a million records.
 */
function alternatives(words: readonly string[]): string[][] {
	let inflected = 0;
	return words.reduce<string[][]>(
		(found, word) => {
			const forms = wordForms(word);
			const used = forms.length > 1 && ++inflected > INFLECTED ? [word] : forms;
			return found.flatMap((others) => used.map((form) => [...others, form]));
		},
		[[]],
	);
}

/**
 * Selects ids of the kind's records that have all words of an alternative, at most RANKED for each
 * alternative.
 */
function hits(kind: string, table: string, asOf: string | undefined): string {
	if (!asOf)
		return `select find_records('${table}', words, ${RANKED}) from wanted`;
	// Devices have no versions, so the index knows the names that they have today.
	if (kind === "device") {
		return `select f.id from wanted w
			cross join lateral find_records('devices', w.words, ${RANKED}) f (id)`;
	}
	return `select h.id::text from ${table} h
		where h.organization_id = $1
			and exists (select from wanted w where h.search_text like all (w.patterns))
		limit ${RANKED}`;
}
