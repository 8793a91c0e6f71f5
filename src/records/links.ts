import type { PoolClient } from "pg";
import { z } from "zod";
import { isContradictedSql } from "../devices/check-results/verification.ts";
import { AppError, badFields } from "../errors.ts";
import { type IdKind, kindNoun } from "../id.ts";
import { notFound } from "../invoke.ts";
import { type Change, type Context, defineOperation } from "../operation.ts";
import { recordKinds } from "../registers/all.ts";
import { asOfShape, contextAsOf } from "./as-of.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { toolsetOf } from "./kind.ts";
import { LINKED, linkable, linkableId } from "./link-kinds.ts";
import { COUNTED, totalOf } from "./list-count.ts";
import { type Order, pageCursor, pageShape, pageSize } from "./list-pages.ts";
import { DEFAULT_PAGE_SIZE } from "./page-sizes.ts";
import {
	readReferencedRecords,
	referencedRecord,
} from "./referenced-records.ts";
import { type DistinctKind, namedKindOf } from "./searchable-kinds.ts";

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
		const both = await lockBoth(context, input);
		const pair = both.map(({ id }) => id);
		const { rows: added } = await client.query<{ created_at: string }>({
			name: "add.link",
			text: `insert into record_links (organization_id, first_id, second_id, first_kind, second_kind)
				values ($1, $2, $3, $4, $5)
				on conflict do nothing
				returning created_at`,
			values: [
				membership.organizationId,
				...pair,
				...both.map(({ kind }) => kind),
			],
		});
		if (added.length > 0) noteLink(context, both, "after");
		const [stored] =
			added.length > 0
				? added
				: await findLink(client, [membership.organizationId, ...pair]);
		return {
			link: { ...input, created_at: stored?.created_at ?? "" },
		};
	},
});

async function findLink(
	client: PoolClient,
	ids: string[],
): Promise<{ created_at: string }[]> {
	const { rows } = await client.query<{ created_at: string }>({
		name: "find.link",
		text: "select created_at from record_links where organization_id = $1 and first_id = $2 and second_id = $3",
		values: ids,
	});
	return rows;
}

export const unlinkRecords = defineOperation({
	name: "unlinkRecords",
	title: "Unlink records",
	description:
		"Remove the link between two records; the records stay. Returns whether there was one.",
	toolset: "links",
	access: "write",
	isIdempotent: true,
	isDestructive: true,
	tenant: "record_id",
	input: z.strictObject({
		...ends,
		record_id: linkableId.describe("Id of one record, as in linkRecords"),
	}),
	output: z.object({
		record_id: z.string(),
		linked_record_id: z.string(),
		was_linked: z.boolean(),
	}),
	run: async (context, input) => {
		const both = await lockBoth(context, input);
		const { rowCount } = await context.client.query(
			"delete from record_links where organization_id = $1 and first_id = $2 and second_id = $3",
			[context.membership.organizationId, ...sorted(input)],
		);
		if (rowCount === 1) noteLink(context, both, "before");
		return { ...input, was_linked: rowCount === 1 };
	},
});

const BY_ID: Order = {
	expression: "l.id",
	type: "text",
	direction: "ASC",
};

export const listLinkedRecords = defineOperation({
	name: "listLinkedRecords",
	title: "List linked records",
	description:
		"List the records linked to a record, with kind, name and status, a page at a time; named_records are those that it names in its fields, such as owner_id. getRecordUses counts the records that name it.",
	toolset: "links",
	access: "read",
	tenant: "record_id",
	input: z.strictObject({
		record_id: linkableId.describe("Id of one record, of such a kind"),
		kind: z.enum(LINKED).optional().describe("This kind of linked record only"),
		size: pageSize(),
		cursor: pageCursor(),
		...asOfShape,
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
				is_contradicted: z
					.boolean()
					.describe(
						"A measure that is IMPLEMENTED, but its check does not show it",
					),
				linked_at: z.string(),
				details: z
					.record(z.string(), z.string())
					.describe(
						"Values that tell records of the same name apart, as in searchRecords",
					),
			}),
		),
		named_records: z
			.array(referencedRecord)
			.describe(
				"Records of any kind that it names in its fields, on the first page; these are not links",
			),
		...pageShape,
	}),
	run: async (context, input) => {
		const { client, membership } = await contextAsOf(context, input.as_of);
		const { organizationId } = membership;
		const own = await find(client, organizationId, input.record_id);
		if (!own) throw notFound(input.record_id);
		const cursorOf = `listLinkedRecords.${input.record_id}.${input.kind ?? ""}.${input.as_of ?? ""}`;
		const after = input.cursor
			? readCursor(input.cursor, cursorOf, BY_ID)
			: undefined;
		const size = input.size ?? DEFAULT_PAGE_SIZE;
		const { rows } = await client.query<
			Linked & {
				status: string | null;
				is_contradicted: boolean;
				linked_at: string;
				details: Record<string, string>;
			}
		>({
			name: "list.links",
			text: `${SELECT_LINKED}
				where ($3::text is null or l.kind = $3) and ($4::text is null or l.id > $4)
				order by l.id
				limit $5`,
			values: [
				organizationId,
				input.record_id,
				input.kind ?? null,
				after?.id ?? null,
				size + 1,
			],
		});
		const page = rows.slice(0, size);
		const last = page.at(-1);
		const hasMore = rows.length > size;
		const count = async () => {
			const { rows } = await client.query<{ count: number }>({
				name: "count.links",
				text: `select count(*)::int as count from (
					select from (${LINKS}) l where ($3::text is null or l.kind = $3) limit ${COUNTED + 1}
				) counted`,
				values: [organizationId, input.record_id, input.kind ?? null],
			});
			return rows[0]?.count ?? 0;
		};
		const counted = after?.counted ?? (hasMore ? await count() : rows.length);
		const named = after
			? []
			: await readReferencedRecords(client, organizationId, own);
		return {
			linked_records: page,
			named_records: named.filter(
				({ kind }) => input.kind === undefined || kind === input.kind,
			),
			next_cursor:
				hasMore && last
					? writeCursor(cursorOf, { value: last.id, id: last.id, counted })
					: null,
			...totalOf(counted),
		};
	},
});

/** A record at the other end of a link. */
export interface Linked {
	id: string;
	kind: IdKind;
	name: string | null;
}

/** Selects the links of the record $2 of the organization $1. */
const LINKS = `
	select second_id as id, second_kind as kind, created_at
	from record_links where organization_id = $1 and first_id = $2
	union all
	select first_id, first_kind, created_at
	from record_links where organization_id = $1 and second_id = $2`;

/** Selects the records linked to the record $2 of the organization $1. */
const SELECT_LINKED = `
	select l.id, l.kind, l.created_at as linked_at,
		${ofLinked(({ nameOf }) => `left(${nameOf("t")}, 1000)`)} as name,
		${ofLinked(({ status }) => status)} as status,
		coalesce(${ofLinked(({ kind }) => (kind === "measure" ? isContradictedSql("t") : undefined))}, false)
			as is_contradicted,
		coalesce(${ofLinked(({ beside }) => beside)}, '{}') as details
	from (${LINKS}) l`;

/**
 * Notes for the audit log that a record loses its links, because it is about to be deleted. Each
 * lost link is noted in the history of the record at its other end. Returns the links for the audit
 * entry of the deleted record.
 */
export async function noteLostLinks(
	context: Context,
	lost: Pick<Change, "kind" | "id" | "name">,
): Promise<Change["fields"]> {
	const { rows } = await context.client.query<Linked>(
		`${SELECT_LINKED} order by l.id`,
		[context.membership.organizationId, lost.id],
	);
	const linked = rows.map(({ id, kind, name }) => ({ kind, id, name }));
	for (const other of linked) {
		const { kind, id, name } = lost;
		context.changed({
			...other,
			fields: { linked_record: { before: { kind, id, name } } },
		});
	}
	return linked.length > 0 ? { linked_records: { before: linked } } : {};
}

/**
 * Returns SQL for a property of the record at the end of a link `l`. Each kind stores the property
 * in its own table, so the SQL distinguishes the kinds.
 */
export function ofLinked(
	sqlOf: (kind: DistinctKind) => string | undefined,
): string {
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
 * Returns both records and locks them until the end of the transaction. Throws if one does not
 * exist. If another call deletes one of the records, it waits for this transaction and then removes
 * the link. If the deletion began first, this call waits for it and then finds that the record is
 * gone.
 */
async function lockBoth(context: Context, ends: Ends): Promise<Linked[]> {
	if (ends.record_id === ends.linked_record_id) {
		throw badFields([
			{
				field: "linked_record_id",
				message: "must not be the same record as record_id",
			},
		]);
	}
	const { client, membership } = context;
	const ids = sorted(ends);
	// All calls lock in the order of the ids, so two calls cannot wait for each other. Both statements
	// are sent together.
	const found = await Promise.all(
		ids.map((id) => find(client, membership.organizationId, id, true)),
	);
	const both: Linked[] = [];
	for (const [index, id] of ids.entries()) {
		const record = found[index];
		if (record) {
			both.push(record);
			continue;
		}
		if (id === ends.record_id) throw notFound(id);
		throw badFields([
			{
				field: "linked_record_id",
				message: `there is no ${kindNoun(namedKindOf(linkable, id)?.kind ?? "risk")} ${id} in this organization`,
			},
		]);
	}
	requireOneWritable(context, both);
	return both;
}

/** Rejects a link of two records that the membership may not write, if it is narrowed to registers. */
function requireOneWritable({ membership }: Context, both: Linked[]): void {
	const { writableRegisters } = membership;
	if (!writableRegisters) return;
	const kinds = new Set<string>(both.map(({ kind }) => kind));
	const isWritable = recordKinds.some(
		(known) =>
			kinds.has(known.kind) && writableRegisters.includes(toolsetOf(known)),
	);
	if (isWritable) return;
	throw new AppError(
		"forbidden",
		`permission denied: your membership may write only the registers ${writableRegisters.join(", ")}, and neither record is in them; ask an administrator`,
	);
}

async function find(
	client: PoolClient,
	organizationId: string,
	id: string,
	isLocked = false,
): Promise<Linked | undefined> {
	const named = namedKindOf(linkable, id);
	if (!named) return undefined;
	const { rows } = await client.query<Linked>({
		name: `find.linked.${named.kind}${isLocked ? ".lock" : ""}`,
		text: `select t.id, left(${named.nameOf("t")}, 1000) as name, $3 as kind
			from ${named.table} t where t.organization_id = $1 and t.id = $2 ${isLocked ? "for key share" : ""}`,
		values: [organizationId, id, named.kind],
	});
	return rows[0];
}

/** Notes in the history of both records that their link changed. */
export function noteLink(
	context: Context,
	[first, second]: readonly Pick<Change, "kind" | "id" | "name">[],
	state: "before" | "after",
): void {
	if (!first || !second) throw new Error("a link needs two records");
	for (const [one, other] of [
		[first, second],
		[second, first],
	] as const) {
		context.changed({ ...one, fields: { linked_record: { [state]: other } } });
	}
}
