import type { PoolClient } from "pg";
import { z } from "zod";
import {
	enforceLimit,
	type Limit,
	rejectAtLimit,
} from "../db/enforce-limit.ts";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { defineOperation } from "../operation.ts";
import type { Filter } from "../records/filter.ts";
import { idempotencyShape } from "../records/idempotency.ts";
import { noteLostLinks } from "../records/links.ts";
import {
	byTime,
	listInput,
	organizationId,
	pageCursor,
	pageShape,
	pageSize,
	readPage,
} from "../records/list-pages.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema, nameSchema, textSchema } from "../records/text-schemas.ts";
import { currentRecords } from "./current-records.ts";
import { listSnapshotDifferences } from "./differences.ts";
import { hashOfRecords } from "./snapshot-file.ts";
import {
	existingSnapshot,
	kindSchema,
	SNAPSHOT_COLUMNS,
	type Snapshot,
	snapshot,
	snapshotId,
} from "./snapshot-record.ts";
import {
	kindsOf,
	requireKind,
	SNAPSHOT_KINDS,
	SNAPSHOT_TYPES,
} from "./snapshot-types.ts";

/** Most records of a snapshot. One statement reads them, which may take 10 s, at 0.25 ms a record. */
const MAX_RECORDS = 30_000;
const MAX_SNAPSHOTS = 500;
const MAX_DESCRIPTION = 5000;

const one = z.object({ snapshot });

const takeSnapshot = defineOperation({
	name: "takeSnapshot",
	title: "Take a snapshot",
	description: `Keep the records of a type as they are now, with their links, or devices with their checks. Nothing changes a snapshot. At most ${MAX_RECORDS} records.`,
	toolset: "snapshots",
	access: "write",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		name: nameSchema(200).describe("What it is for, such as an audit"),
		type: z.enum(SNAPSHOT_TYPES).describe("The records that it keeps"),
		description: textSchema(MAX_DESCRIPTION)
			.nullable()
			.optional()
			.meta(obvious("More about it")),
		...idempotencyShape,
	}),
	output: one,
	run: async (context, { name, type, description = null }) => {
		const { client, principal, membership } = context;
		const { organizationId } = membership;
		const id = makeId(organizationId, "snapshot");
		const limit = limitOf(organizationId, id);
		await rejectAtLimit(client, limit);
		if (kindsOf(type).includes("device")) {
			await rejectAtLimit(client, {
				from: `(select from devices where organization_id = $1 limit ${MAX_RECORDS + 1}) d`,
				values: [organizationId],
				max: MAX_RECORDS + 1,
				error: tooLarge,
			});
		}
		await client.query(
			`insert into snapshots (organization_id, id, name, type, description, taken_by_id, taken_by_name, sha256)
			values ($1, $2, $3, $4, $5, $6, $7, sha256(''))`,
			[
				organizationId,
				id,
				name,
				type,
				description,
				principal.userId,
				principal.name,
			],
		);
		// One statement reads all records, so they are of one moment.
		const { rowCount } = await client.query(
			`insert into snapshot_records (organization_id, snapshot_id, kind, id, name, fields)
			select $1, $2, x.kind, x.id, coalesce(x.name, ''), x.fields
			from (${currentRecords(kindsOf(type))}) x
			limit ${MAX_RECORDS + 1}`,
			[organizationId, id],
		);
		if ((rowCount ?? 0) > MAX_RECORDS) throw tooLarge();
		const hash = await hashOfRecords(client, organizationId, id);
		await client.query(
			`update snapshots set sha256 = $3, counts = (
				select coalesce(jsonb_object_agg(k.kind, k.records), '{}')
				from (
					select r.kind, count(*) as records from snapshot_records r
					where r.organization_id = $1 and r.snapshot_id = $2 group by r.kind
				) k
			)
			where organization_id = $1 and id = $2`,
			[organizationId, id, hash],
		);
		// Only now, so that others who take a snapshot do not wait until this one has all its records.
		await enforceLimit(client, limit);
		const taken = await existingSnapshot(client, organizationId, id);
		context.changed({
			kind: "snapshot",
			id,
			name,
			fields: {
				type: { after: type },
				...(description !== null && { description: { after: description } }),
				counts: { after: taken.counts },
				sha256: { after: taken.sha256 },
			},
		});
		return { snapshot: taken };
	},
});

/** Counts the snapshots besides the one that is being taken. */
function limitOf(organizationId: string, id: string): Limit {
	return {
		lock: `snapshots ${organizationId}`,
		from: "snapshots where organization_id = $1 and id <> $2",
		values: [organizationId, id],
		max: MAX_SNAPSHOTS,
		error: () =>
			new AppError(
				"bad_request",
				`the organization has ${MAX_SNAPSHOTS} snapshots, which is the maximum; an administrator can delete old ones`,
			),
	};
}

const tooLarge = () =>
	badFields([
		{
			field: "type",
			message: `must name at most ${MAX_RECORDS} records together; choose a type with fewer`,
		},
	]);

const OF_TYPE: Filter = {
	schema: z.enum(SNAPSHOT_TYPES).meta(obvious("Type")),
	sql: (parameter) => `t.type = ${parameter}`,
};

const listSnapshots = defineOperation({
	name: "listSnapshots",
	title: "List snapshots",
	description: "List the snapshots of an organization, newest first.",
	toolset: "snapshots",
	access: "read",
	tenant: "organization_id",
	input: listInput({ created_at: byTime("created_at") }, { type: OF_TYPE }),
	output: z.object({ snapshots: z.array(snapshot), ...pageShape }),
	run: async ({ client }, input) => {
		const { rows, ...page } = await readPage<Snapshot>(
			client,
			{
				tool: "listSnapshots",
				columns: SNAPSHOT_COLUMNS,
				from: "snapshots t",
				orders: { created_at: byTime("created_at") },
				filters: { type: OF_TYPE },
			},
			input,
		);
		return { snapshots: rows, ...page };
	},
});

const getSnapshot = defineOperation({
	name: "getSnapshot",
	title: "Get a snapshot",
	description:
		"Read what a snapshot contains, and its hash. listSnapshotRecords returns its records, listSnapshotDifferences what has changed since.",
	toolset: "snapshots",
	access: "read",
	tenant: "id",
	input: z.strictObject({
		id: snapshotId(),
		verify: z
			.boolean()
			.optional()
			.describe("Computes the hash of the records again, for is_intact"),
	}),
	output: z.object({
		snapshot: snapshot.extend({
			is_intact: z
				.boolean()
				.optional()
				.describe("With verify: the records still have the last hash"),
			compliant_devices: z
				.int()
				.optional()
				.describe("Devices in it that were COMPLIANT; missing: no devices"),
			compliant_by_exception: z
				.int()
				.optional()
				.describe("Those that an exception excused from a check"),
		}),
	}),
	run: async ({ client, membership }, { id, verify }) => {
		const { organizationId } = membership;
		const found = {
			...(await existingSnapshot(client, organizationId, id)),
			...(await countCompliant(client, organizationId, id)),
		};
		if (!verify) return { snapshot: found };
		const hash = await hashOfRecords(client, organizationId, id);
		const last = found.sha256_after_erasure ?? found.sha256;
		return { snapshot: { ...found, is_intact: hash.toString("hex") === last } };
	},
});

/**
 * Counts the compliant devices of a snapshot. Returns an empty object if it has no devices. The index
 * of the kinds finds them, so other records cost nothing.
 */
async function countCompliant(
	client: PoolClient,
	organizationId: string,
	id: string,
) {
	const { rows } = await client.query<{
		compliant_devices: number;
		compliant_by_exception: number;
	}>({
		name: "snapshot.compliant",
		text: `
			select (count(*) filter (where d.is_compliant))::int as compliant_devices,
				(count(*) filter (where d.is_compliant and d.is_excused))::int as compliant_by_exception
			from (
				select r.fields ->> 'compliance' = 'COMPLIANT' as is_compliant,
					r.fields @? '$.checks.* ? (@ == "EXCEPTED")' as is_excused
				from snapshot_records r
				where r.organization_id = $1 and r.snapshot_id = $2 and r.kind = 'device'
			) d
			having count(*) > 0`,
		values: [organizationId, id],
	});
	return rows[0] ?? {};
}

const RECORD_FILTERS: Record<"snapshot_id" | "kind", Filter> = {
	snapshot_id: {
		schema: idSchema("snapshot"),
		sql: (parameter) => `t.snapshot_id = ${parameter}`,
	},
	kind: {
		schema: z.enum(SNAPSHOT_KINDS),
		sql: (parameter) => `t.kind = ${parameter}`,
	},
};

const listSnapshotRecords = defineOperation({
	name: "listSnapshotRecords",
	title: "List the records of a snapshot",
	description:
		"Read the records of a snapshot by name, with all fields as they were.",
	toolset: "snapshots",
	access: "read",
	tenant: "snapshot_id",
	input: z.strictObject({
		snapshot_id: snapshotId(),
		kind: kindSchema(),
		query: z
			.string()
			.max(200)
			.optional()
			.describe("Words that must all occur in the record's name"),
		size: pageSize(),
		cursor: pageCursor(),
	}),
	output: z.object({
		snapshot_records: z.array(
			z.object({
				id: z.string(),
				kind: z.enum(SNAPSHOT_KINDS),
				name: z.string(),
				fields: z.record(z.string(), z.unknown()),
			}),
		),
		...pageShape,
	}),
	run: async (context, { snapshot_id, kind, query, ...page }) => {
		const { client, membership } = context;
		const { organizationId } = membership;
		const { type } = await existingSnapshot(
			client,
			organizationId,
			snapshot_id,
		);
		requireKind(kindsOf(type), kind);
		const { rows, ...rest } = await readPage<{
			id: string;
			kind: (typeof SNAPSHOT_KINDS)[number];
			name: string;
			fields: Record<string, unknown>;
		}>(
			client,
			{
				tool: `listSnapshotRecords.${snapshot_id}`,
				columns: "t.id, t.kind, t.name, t.fields",
				from: "(select r.*, search_text(r.name) as search_text from snapshot_records r) t",
				orders: {
					created_at: {
						expression: "t.name_key",
						type: "text",
						direction: "ASC",
					},
				},
				filters: RECORD_FILTERS,
			},
			{
				...page,
				organization_id: organizationId,
				filter: { query, snapshot_id, kind },
			},
		);
		return { snapshot_records: rows, ...rest };
	},
});

const deleteSnapshot = defineOperation({
	name: "deleteSnapshot",
	title: "Delete a snapshot",
	description:
		"Delete a snapshot, its records and its links. The audit log keeps its hash.",
	toolset: "snapshots",
	access: "admin",
	isDestructive: true,
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({ id: snapshotId() }),
	output: z.object({ deleted_snapshot_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership } = context;
		const { organizationId } = membership;
		const { name, type, sha256 } = await existingSnapshot(
			client,
			organizationId,
			id,
		);
		const deleted = { kind: "snapshot", id, name };
		const links = await noteLostLinks(context, deleted);
		await client.query(
			"delete from snapshots where organization_id = $1 and id = $2",
			[organizationId, id],
		);
		context.changed({
			...deleted,
			fields: { type: { before: type }, sha256: { before: sha256 }, ...links },
		});
		return { deleted_snapshot_id: id };
	},
});

export const snapshotOperations = [
	takeSnapshot,
	listSnapshots,
	getSnapshot,
	listSnapshotRecords,
	listSnapshotDifferences,
	deleteSnapshot,
] as const;
