import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "./as-of.ts";
import { DEFAULT_PAGE_SIZE, organizationId, pageSize } from "./list-pages.ts";
import { wordForms } from "./plurals.ts";
import { namedKinds } from "./searchable-kinds.ts";
import { wordsOf } from "./text-match.ts";

/** Largest number of hits of each kind that are ranked. This limits the work for a common word. */
const RANKED = 1000;

/** Largest number of words of a query whose other forms are searched too: each doubles the work. */
const INFLECTED = 2;

const KINDS = namedKinds.map(({ kind }) => kind) as [string, ...string[]];

/**
 * Searches text in all kinds of records of an organization. This takes one statement, however many
 * kinds there are.
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
		records: z.array(
			z.object({
				kind: z.enum(KINDS),
				id: z.string(),
				name: z.string().nullable(),
				updated_at: z.string(),
				details: z
					.record(z.string(), z.string())
					.describe(
						"Values that tell records of the same name apart, such as status, owner and due date",
					),
			}),
		),
		is_more: z
			.boolean()
			.describe("True if more records match. Ask for more specific words"),
	}),
	run: async (context, input) => {
		const words = wordsOf(input.query);
		const kinds = namedKinds.filter(
			({ kind }) => !input.kinds || input.kinds.includes(kind),
		);
		if (kinds.length === 0 || words.length === 0)
			return { records: [], is_more: false };
		const size = input.size ?? DEFAULT_PAGE_SIZE;
		const { client } = await contextAsOf(context, input.as_of);
		const { rows } = await client.query<{
			kind: string;
			id: string;
			name: string | null;
			updated_at: string;
			details: Record<string, string>;
		}>(
			`with wanted as materialized (
				select w.words, array(select search_pattern(word) from unnest(w.words) word) as patterns
				from (
					select array(select jsonb_array_elements_text(one.words)) as words
					from jsonb_array_elements($2::jsonb) one (words)
				) w
			),
			hit as (select kind, id, name, updated_at
			from (${kinds
				.map(
					({ kind, table, nameOf }) => `
				select '${kind}' as kind, t.id, left(${nameOf("t")}, 1000) as name, t.updated_at
				from ${table} t
				where t.organization_id = $1 and t.id = any(array(${hits(kind, table, input.as_of)}))`,
				)
				.join(" union all ")}) any_hit
			${ORDER}
			limit $4)
			select kind, id, name, updated_at, case kind ${kinds
				.map(
					({ kind, table, beside }) =>
						`when '${kind}' then (select ${beside} from ${table} t where t.organization_id = $1 and t.id = hit.id)`,
				)
				.join(" ")} end as details
			from hit ${ORDER}`,
			[
				input.organization_id,
				JSON.stringify(alternatives(words)),
				words.join(" "),
				size + 1,
			],
		);
		return { records: rows.slice(0, size), is_more: rows.length > size };
	},
});

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
