import type { PoolClient } from "pg";
import { z } from "zod";
import { notFound } from "../invoke.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema } from "../records/text-schemas.ts";
import { SNAPSHOT_KINDS, SNAPSHOT_TYPES } from "./snapshot-types.ts";

export const snapshotId = () =>
	idSchema("snapshot").meta(obvious("Id of the snapshot"));

export const kindSchema = () =>
	z
		.enum(SNAPSHOT_KINDS)
		.optional()
		.describe("This kind of record only, such as risk");

export const snapshot = z.object({
	id: z.string(),
	organization_id: z.string(),
	name: z.string(),
	type: z.enum(SNAPSHOT_TYPES),
	description: z.string().nullable(),
	taken_by: z.string(),
	taken_at: z.string(),
	counts: z
		.record(z.string(), z.int())
		.describe("Number of records of each kind"),
	sha256: z
		.string()
		.describe("Hash of its file, which GET /api/files/<id> returns"),
	sha256_after_erasure: z
		.string()
		.nullable()
		.describe("Hash since the name of an erased person was removed"),
});
export type Snapshot = z.output<typeof snapshot>;

export const SNAPSHOT_COLUMNS = `t.id, t.organization_id, t.name, t.type, t.description,
	t.taken_by_name as taken_by, t.created_at as taken_at, t.counts, encode(t.sha256, 'hex') as sha256,
	encode(t.sha256_after_erasure, 'hex') as sha256_after_erasure`;

/** Returns the snapshot. Throws not_found if there is no such snapshot. */
export async function existingSnapshot(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<Snapshot> {
	const { rows } = await client.query<Snapshot>({
		name: "get.snapshot",
		text: `select ${SNAPSHOT_COLUMNS} from snapshots t where t.organization_id = $1 and t.id = $2`,
		values: [organizationId, id],
	});
	if (!rows[0]) throw notFound(id);
	return rows[0];
}
