import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { retriedTransaction } from "../db/pool.ts";

/** Number of records that one statement reads. */
const RECORDS_AT_ONCE = 1000;

type Run = <Result>(
	work: (client: PoolClient) => Promise<Result>,
) => Promise<Result>;

/**
 * Returns the file of a snapshot: a line of JSON for each record, in the order of their ids. The
 * SHA-256 of this file is the hash of the snapshot.
 */
export function snapshotFile(
	pool: Pool,
	organizationId: string,
	id: string,
): AsyncGenerator<Buffer> {
	// Each part has a transaction of its own, so a slow receiver holds no connection.
	const run: Run = (work) =>
		retriedTransaction(pool, { organizationId, isReadOnly: true }, work);
	return readLines(run, organizationId, id);
}

/** Returns the SHA-256 of a snapshot's records as they are stored now. */
export async function hashOfRecords(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<Buffer> {
	const hash = createHash("sha256");
	for await (const lines of readLines(
		(work) => work(client),
		organizationId,
		id,
	)) {
		hash.update(lines);
	}
	return hash.digest();
}

async function* readLines(
	run: Run,
	organizationId: string,
	id: string,
): AsyncGenerator<Buffer> {
	for (let after = ""; ; ) {
		const { rows } = await run((client) =>
			client.query<{ id: string; line: string }>({
				name: "read.snapshot",
				text: `select r.id, (jsonb_build_object('kind', r.kind) || r.fields)::text as line
					from snapshot_records r
					where r.organization_id = $1 and r.snapshot_id = $2 and r.id > $3
					order by r.id limit ${RECORDS_AT_ONCE}`,
				values: [organizationId, id, after],
			}),
		);
		const last = rows.at(-1);
		if (!last) return;
		yield Buffer.from(rows.map(({ line }) => `${line}\n`).join(""));
		after = last.id;
	}
}
