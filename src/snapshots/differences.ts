import type { PoolClient } from "pg";
import { z } from "zod";
import type { IdKind } from "../id.ts";
import { defineOperation } from "../operation.ts";
import { readCursor, writeCursor } from "../records/cursor.ts";
import { type Order, pageCursor, pageSize } from "../records/list-pages.ts";
import { DEFAULT_PAGE_SIZE } from "../records/page-sizes.ts";
import { shorten } from "../records/result-rows.ts";
import { currentRecords, fieldsOf, NOT_COMPARED } from "./current-records.ts";
import { existingSnapshot, kindSchema, snapshotId } from "./snapshot-record.ts";
import { kindsOf, requireKind, SNAPSHOT_KINDS } from "./snapshot-types.ts";

const CHANGES = ["ADDED", "CHANGED", "REMOVED"] as const;

const difference = z.object({
	id: z.string(),
	kind: z.enum(SNAPSHOT_KINDS),
	name: z.string().nullable(),
	change: z.enum(CHANGES),
	fields: z
		.record(z.string(), z.object({ before: z.unknown(), after: z.unknown() }))
		.describe("What differs in a record that has CHANGED; long texts are cut"),
});

const BY_ID: Order = { expression: "d.id", type: "text", direction: "ASC" };

type Fields = Record<string, unknown>;

interface Row {
	id: string;
	kind: IdKind;
	name: string | null;
	change: (typeof CHANGES)[number];
	before: Fields | null;
	after: Fields | null;
}

interface Answer {
	rows: Row[];
	counts: Partial<Record<(typeof CHANGES)[number], number>>;
}

export const listSnapshotDifferences = defineOperation({
	name: "listSnapshotDifferences",
	title: "Compare a snapshot with today",
	description:
		"List the records that were added, changed or removed since a snapshot was taken, with the fields that differ.",
	toolset: "snapshots",
	access: "read",
	tenant: "snapshot_id",
	input: z.strictObject({
		snapshot_id: snapshotId(),
		kind: kindSchema(),
		change: z.enum(CHANGES).optional().describe("This change only"),
		size: pageSize("Differences"),
		cursor: pageCursor(),
	}),
	output: z.object({
		differences: z.array(difference),
		counts: z
			.object({ ADDED: z.int(), CHANGED: z.int(), REMOVED: z.int() })
			.describe("Number of all differences, of every change"),
		next_cursor: z.string().nullable(),
	}),
	run: async ({ client, membership }, input) => {
		const { organizationId } = membership;
		const { snapshot_id: id, kind, change, size = DEFAULT_PAGE_SIZE } = input;
		const { type } = await existingSnapshot(client, organizationId, id);
		requireKind(kindsOf(type), kind);
		const cursorOf = `listSnapshotDifferences.${id}.${kind ?? ""}.${change ?? ""}`;
		const after = input.cursor
			? readCursor(input.cursor, cursorOf, BY_ID)
			: undefined;
		const { rows, counts } = await readDifferences(client, {
			organizationId,
			id,
			kinds: kind ? [kind] : kindsOf(type),
			change,
			after: after?.id ?? "",
			limit: size + 1,
		});
		const page = rows.slice(0, size);
		const last = page.at(-1);
		return {
			differences: page.map(({ before, after, ...row }) => ({
				...row,
				fields: before && after ? differentFields(before, after) : {},
			})),
			counts: { ADDED: 0, CHANGED: 0, REMOVED: 0, ...counts },
			next_cursor:
				rows.length > size && last
					? writeCursor(cursorOf, { value: last.id, id: last.id, counted: 0 })
					: null,
		};
	},
});

async function readDifferences(
	client: PoolClient,
	{
		organizationId,
		id,
		kinds,
		change,
		after,
		limit,
	}: {
		organizationId: string;
		id: string;
		kinds: readonly IdKind[];
		change: string | undefined;
		after: string;
		limit: number;
	},
): Promise<Answer> {
	const ignored = await fieldsNotInBoth(client, organizationId, id, kinds);
	const without = (alias: string) =>
		`${alias}.fields - $4::text[] - coalesce(array(select jsonb_array_elements_text($5::jsonb -> ${alias}.kind)), '{}')`;
	const { rows } = await client.query<Answer>(
		`with was as materialized (
			select r.id::text as id, r.kind, r.name, r.fields from snapshot_records r
			where r.organization_id = $1 and r.snapshot_id = $2 and r.kind = any($3)
		), difference as materialized (
			select coalesce(n.id, was.id) as id, coalesce(n.kind, was.kind) as kind, coalesce(n.name, was.name) as name,
				case when was.id is null then 'ADDED' when n.id is null then 'REMOVED' else 'CHANGED' end as change,
				was.fields as before, n.fields as after
			from was full join (${currentRecords(kinds)}) n on n.id = was.id
			where was.id is null or n.id is null or (${without("was")}) <> (${without("n")})
		)
		select (
			select coalesce(jsonb_agg(d order by d.id), '[]') from (
				select d.id, d.kind, d.name, d.change,
					case when d.change = 'CHANGED' then (d.before - $4::text[]) end as before,
					case when d.change = 'CHANGED' then (d.after - $4::text[]) end as after
				from difference d
				where d.id > $6 and ($7::text is null or d.change = $7)
				order by d.id limit $8
			) d
		) as rows, (
			select coalesce(jsonb_object_agg(c.change, c.records), '{}')
			from (select change, count(*) as records from difference group by change) c
		) as counts`,
		[
			organizationId,
			id,
			kinds,
			NOT_COMPARED,
			JSON.stringify(ignored),
			after,
			change ?? null,
			limit,
		],
	);
	return rows[0] ?? { rows: [], counts: {} };
}

/**
 * Returns, by kind, the fields that records have only in the snapshot or only now, because another
 * version of the service took it.
 */
async function fieldsNotInBoth(
	client: PoolClient,
	organizationId: string,
	id: string,
	kinds: readonly IdKind[],
): Promise<Partial<Record<IdKind, string[]>>> {
	const { rows } = await client.query<{ kind: IdKind; fields: string[] }>(
		`select k.kind, array(select jsonb_object_keys(r.fields)) as fields
		from unnest($3::text[]) k (kind) cross join lateral (
			select r.fields from snapshot_records r
			where r.organization_id = $1 and r.snapshot_id = $2 and r.kind = k.kind limit 1
		) r`,
		[organizationId, id, kinds],
	);
	return Object.fromEntries(
		rows.map(({ kind, fields }) => {
			const now = new Set(fieldsOf(kind));
			const then = new Set(fields);
			return [kind, [...now.symmetricDifference(then)]];
		}),
	);
}

function differentFields(
	before: Fields,
	after: Fields,
): Record<string, { before: unknown; after: unknown }> {
	const names = Object.keys(after).filter(
		(name) =>
			name in before &&
			JSON.stringify(before[name]) !== JSON.stringify(after[name]),
	);
	return Object.fromEntries(
		names.map((name) => [
			name,
			{ before: shown(before[name]), after: shown(after[name]) },
		]),
	);
}

const shown = (value: unknown) =>
	typeof value === "string" ? shorten(value) : value;
