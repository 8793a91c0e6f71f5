import type { PoolClient } from "pg";
import { nameField } from "../records/result-rows.ts";
import { recordKinds } from "../registers/all.ts";
import { hashOfRecords } from "../snapshots/snapshot-file.ts";

/** The fields of records, by kind, that name people beside their ids. */
const NAMING: Record<string, { ids: string; names: string }[]> = {
	device: [{ ids: "owner_id", names: "owner_name" }],
	...Object.fromEntries(
		recordKinds.map(({ kind, fields }) => [
			kind,
			Object.entries(fields)
				.filter(([, { reference }]) => reference === "people")
				.map(([ids]) => ({ ids, names: nameField(ids) })),
		]),
	),
};

type Fields = Record<string, unknown>;

/**
 * Replaces the name of a person in the snapshots of an organization, and the other personal data in
 * the person's own record. Returns the hashes of these snapshots before and after it, by id. The
 * first hash of a snapshot stays with it. `client` acts as assay_privacy.
 */
export async function eraseInSnapshots(
	client: PoolClient,
	organizationId: string,
	personId: string,
	erased: Fields & { full_name: string },
): Promise<{ before: Record<string, string>; after: Record<string, string> }> {
	const { rows } = await client.query<{
		snapshot_id: string;
		id: string;
		kind: string;
		fields: Fields;
	}>(
		`select r.snapshot_id, r.id, r.kind, r.fields from snapshot_records r
		where r.organization_id = $1 and (r.id = $2 or strpos(r.fields::text, $2) > 0)`,
		[organizationId, personId],
	);
	const changed = new Set<string>();
	for (const { snapshot_id, id, kind, fields } of rows) {
		const redacted =
			id === personId
				? { ...fields, ...erased }
				: withoutName(kind, fields, personId, erased.full_name);
		if (JSON.stringify(redacted) === JSON.stringify(fields)) continue;
		changed.add(snapshot_id);
		await client.query(
			`update snapshot_records
			set fields = $4, name = case when id = $5 then $6 else name end
			where organization_id = $1 and snapshot_id = $2 and id = $3`,
			[
				organizationId,
				snapshot_id,
				id,
				JSON.stringify(redacted),
				personId,
				erased.full_name,
			],
		);
	}
	const hashes = {
		before: {} as Record<string, string>,
		after: {} as Record<string, string>,
	};
	for (const id of changed) {
		const { rows: found } = await client.query<{ hash: string }>(
			`select encode(coalesce(sha256_after_erasure, sha256), 'hex') as hash
			from snapshots where organization_id = $1 and id = $2`,
			[organizationId, id],
		);
		const hash = await hashOfRecords(client, organizationId, id);
		await client.query(
			"update snapshots set sha256_after_erasure = $3 where organization_id = $1 and id = $2",
			[organizationId, id, hash],
		);
		hashes.before[id] = found[0]?.hash ?? "";
		hashes.after[id] = hash.toString("hex");
	}
	return hashes;
}

function withoutName(
	kind: string,
	fields: Fields,
	personId: string,
	name: string,
): Fields {
	const renamed = { ...fields };
	for (const { ids, names } of NAMING[kind] ?? []) {
		const [of, shown] = [fields[ids], fields[names]];
		if (of === personId) renamed[names] = name;
		if (Array.isArray(of) && Array.isArray(shown)) {
			renamed[names] = shown.map((one, at) =>
				of[at] === personId ? name : one,
			);
		}
	}
	return renamed;
}

/** Counts records in snapshots that contain one of `texts` anywhere. */
export async function countSnapshotRecordsWith(
	client: PoolClient,
	organizationId: string,
	texts: readonly string[],
): Promise<number> {
	const { rows } = await client.query<{ count: number }>(
		`select count(*)::integer as count from snapshot_records r
		where r.organization_id = $1
			and search_fold(r.fields::text) like any (array(select search_pattern(w) from unnest($2::text[]) w))`,
		[organizationId, texts],
	);
	return rows[0]?.count ?? 0;
}
