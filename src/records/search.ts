import { z } from "zod";
import { endOfMillisecond } from "../devices/timestamps.ts";
import { defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "./as-of.ts";
import { DEFAULT_PAGE_SIZE, organizationId, pageSize } from "./list-pages.ts";
import { namedKinds } from "./searchable-kinds.ts";
import { wordsOf } from "./text-match.ts";

/** Largest number of hits of each kind that are ranked. This limits the work for a common word. */
const RANKED = 1000;

const KINDS = namedKinds.map(({ kind }) => kind) as [string, ...string[]];

/**
 * Searches text in all kinds of records of an organization. This takes one statement, however many
 * kinds there are.
 */
export const searchRecords = defineOperation({
	name: "searchRecords",
	title: "Search records",
	description:
		"Find records of any kind by their own text (all words must occur, whatever their case and accents), best match first. It does not find records by their owner: getRecordUses of the person does. With as_of, it finds what the records said then; devices have the names of today. Returns kind, id, name and details such as the status; read one with its get tool.",
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
	}),
	run: async (context, input) => {
		const words = wordsOf(input.query);
		const kinds = namedKinds.filter(
			({ kind }) => !input.kinds || input.kinds.includes(kind),
		);
		if (kinds.length === 0 || words.length === 0) return { records: [] };
		const { client } = await contextAsOf(context, input.as_of);
		const { rows } = await client.query<{
			kind: string;
			id: string;
			name: string | null;
			updated_at: string;
			details: Record<string, string>;
		}>(
			`with hit as (select kind, id, name, updated_at
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
				words,
				words.join(" "),
				input.size ?? DEFAULT_PAGE_SIZE,
			],
		);
		return { records: rows };
	},
});

/** The best match of the name first. */
const ORDER =
	"order by similarity(search_fold(coalesce(name, '')), search_fold($3)) desc, updated_at desc, id";

/** Selects ids of the kind's records that have all words, at most RANKED. */
function hits(kind: string, table: string, asOf: string | undefined): string {
	if (!asOf) return `select find_records('${table}', $2, ${RANKED})`;
	// Devices have no versions, so all that is known of the past is whether they were there.
	if (kind === "device") {
		return `select f.id from find_records('devices', $2, ${RANKED}) f (id)
			join devices d on d.organization_id = $1 and d.id = f.id
			where d.created_at <= '${endOfMillisecond(asOf)}'`;
	}
	return `select h.id::text from ${table} h
		where h.organization_id = $1
			and h.search_text like all (array(select search_pattern(word) from unnest($2::text[]) word))
		limit ${RANKED}`;
}
