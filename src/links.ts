import type { PoolClient } from "pg";
import { z } from "zod";
import { badFields } from "./errors.ts";
import { kindNoun } from "./id.ts";
import { notFound } from "./invoke.ts";
import { type NamedKind, namedKindOf, namedKinds } from "./named-records.ts";
import { type Context, defineOperation } from "./operation.ts";

const LINKED = [
	"risk",
	"measure",
	"control",
	"obligation",
	"nonconformity",
	"vendor",
	"asset",
	"datum",
	"audit",
	"task",
	"device",
] as const;

const linkable = namedKinds.filter(({ kind }) =>
	(LINKED as readonly string[]).includes(kind),
);

const linkableId = z
	.string()
	.refine(
		(text) => namedKindOf(linkable, text) !== undefined,
		`must be the id of a record that can be linked: ${LINKED.join(", ")}`,
	);

const ends = {
	record_id: linkableId.describe(`Id of one record: ${LINKED.join(", ")}`),
	linked_record_id: linkableId.describe(
		"Id of the other record, of the same organization",
	),
};

const link = z.object({
	record_id: z.string(),
	linked_record_id: z.string(),
	created_at: z.string(),
});

export const linkRecords = defineOperation({
	name: "linkRecords",
	title: "Link records",
	description:
		"Link two records of an organization, such as a measure to the risk it reduces or to the control it meets. A link has no direction; linking again changes nothing.",
	toolset: "links",
	access: "write",
	isIdempotent: true,
	tenant: "record_id",
	input: z.strictObject(ends),
	output: z.object({ link }),
	run: async (context, input) => {
		const { client, membership } = context;
		const pair = sorted(input);
		await lockBoth(context, input);
		const { rowCount } = await client.query(
			`insert into record_links (organization_id, first_id, second_id, first_kind, second_kind)
			values ($1, $2, $3, $4, $5)
			on conflict do nothing`,
			[
				membership.organizationId,
				...pair,
				...pair.map((id) => namedKindOf(linkable, id)?.kind),
			],
		);
		const { rows } = await client.query<{ created_at: Date }>(
			"select created_at from record_links where organization_id = $1 and first_id = $2 and second_id = $3",
			[membership.organizationId, ...pair],
		);
		if (rowCount === 1) noteLink(context, input, { after: true });
		return {
			link: { ...input, created_at: rows[0]?.created_at.toISOString() ?? "" },
		};
	},
});

export const unlinkRecords = defineOperation({
	name: "unlinkRecords",
	title: "Unlink records",
	description:
		"Remove the link between two records; the records stay. Says whether there was one.",
	toolset: "links",
	access: "write",
	isIdempotent: true,
	isDestructive: true,
	tenant: "record_id",
	input: z.strictObject(ends),
	output: z.object({
		record_id: z.string(),
		linked_record_id: z.string(),
		was_linked: z.boolean(),
	}),
	run: async (context, input) => {
		await lockBoth(context, input);
		const { rowCount } = await context.client.query(
			"delete from record_links where organization_id = $1 and first_id = $2 and second_id = $3",
			[context.membership.organizationId, ...sorted(input)],
		);
		if (rowCount === 1) noteLink(context, input, { before: true });
		return { ...input, was_linked: rowCount === 1 };
	},
});

const DEFAULT_SIZE = 20;

export const listLinkedRecords = defineOperation({
	name: "listLinkedRecords",
	title: "List linked records",
	description:
		"List the records linked to a record, with kind, name and status, a page at a time.",
	toolset: "links",
	access: "read",
	tenant: "record_id",
	input: z.strictObject({
		record_id: ends.record_id,
		kind: z.enum(LINKED).optional().describe("This kind of linked record only"),
		size: z
			.int()
			.min(1)
			.max(100)
			.optional()
			.describe(`Records a page, ${DEFAULT_SIZE} unless given`),
		cursor: z
			.string()
			.nullable()
			.optional()
			.describe("next_cursor of the page before"),
	}),
	output: z.object({
		linked_records: z.array(
			z.object({
				id: z.string(),
				kind: z.enum(LINKED),
				name: z.string().nullable(),
				status: z
					.string()
					.nullable()
					.describe("Its status or state; null for kinds that have none"),
				linked_at: z.string(),
			}),
		),
		next_cursor: z.string().nullable(),
	}),
	run: async ({ client, membership }, input) => {
		const { organizationId } = membership;
		if (!(await exists(client, organizationId, input.record_id))) {
			throw notFound(input.record_id);
		}
		if (input.cursor && !/^[\w-]{32}$/.test(input.cursor)) {
			throw badFields([
				{
					field: "cursor",
					message:
						"is none that this list gave; pass next_cursor of the page before unchanged, or leave it out",
				},
			]);
		}
		const size = input.size ?? DEFAULT_SIZE;
		const { rows } = await client.query<{
			id: string;
			kind: (typeof LINKED)[number];
			name: string | null;
			status: string | null;
			linked_at: Date;
		}>({
			name: "list.links",
			text: `
				select l.id, l.kind, l.created_at as linked_at,
					${ofLinked(({ name }) => `left(${name}, 1000)`)} as name,
					${ofLinked(({ status }) => status)} as status
				from (
					select second_id as id, second_kind as kind, created_at
					from record_links where organization_id = $1 and first_id = $2
					union all
					select first_id, first_kind, created_at
					from record_links where organization_id = $1 and second_id = $2
				) l
				where ($3::text is null or l.kind = $3) and ($4::text is null or l.id > $4)
				order by l.id
				limit $5`,
			values: [
				organizationId,
				input.record_id,
				input.kind ?? null,
				input.cursor ?? null,
				size + 1,
			],
		});
		const page = rows.slice(0, size);
		return {
			linked_records: page.map((row) => ({
				...row,
				linked_at: row.linked_at.toISOString(),
			})),
			next_cursor: rows.length > size ? (page.at(-1)?.id ?? null) : null,
		};
	},
});

/** SQL of something about the record of a link `l`, which each kind has in its own table. */
function ofLinked(sqlOf: (kind: NamedKind) => string | undefined): string {
	const cases = linkable.map((kind) => {
		const sql = sqlOf(kind);
		return (
			sql &&
			`when '${kind.kind}' then (select ${sql} from ${kind.table} t where t.organization_id = $1 and t.id = l.id)`
		);
	});
	return `case l.kind ${cases.filter(Boolean).join("\n")} end`;
}

interface Ends {
	record_id: string;
	linked_record_id: string;
}

function sorted(ends: Ends): string[] {
	return [ends.record_id, ends.linked_record_id].sort();
}

/**
 * Both records must exist, and stay until the transaction ends: who deletes one waits for
 * us and then removes the link, or we wait and find it gone.
 */
async function lockBoth(context: Context, ends: Ends): Promise<void> {
	if (ends.record_id === ends.linked_record_id) {
		throw badFields([
			{
				field: "linked_record_id",
				message: "must be another record than record_id",
			},
		]);
	}
	const { organizationId } = context.membership;
	// In the order of their ids, so that two calls never wait for each other in a circle.
	for (const id of sorted(ends)) {
		if (await exists(context.client, organizationId, id, "for key share"))
			continue;
		if (id === ends.record_id) throw notFound(id);
		throw badFields([
			{
				field: "linked_record_id",
				message: `there is no ${kindNoun(namedKindOf(linkable, id)?.kind ?? "risk")} ${id} in this organization`,
			},
		]);
	}
}

async function exists(
	client: PoolClient,
	organizationId: string,
	id: string,
	lock: "" | "for key share" = "",
): Promise<boolean> {
	const table = namedKindOf(linkable, id)?.table;
	if (!table) return false;
	const { rowCount } = await client.query(
		`select from ${table} where organization_id = $1 and id = $2 ${lock}`,
		[organizationId, id],
	);
	return rowCount === 1;
}

function noteLink(
	context: Context,
	ends: Ends,
	state: { before?: true; after?: true },
): void {
	context.changed({
		kind: namedKindOf(linkable, ends.record_id)?.kind ?? "record",
		id: ends.record_id,
		name: null,
		fields: {
			linked_record_id: {
				...(state.before && { before: ends.linked_record_id }),
				...(state.after && { after: ends.linked_record_id }),
			},
		},
	});
}
