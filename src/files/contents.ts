import type { Pool, PoolClient } from "pg";
import { retriedTransaction } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { DEFAULT_LIMITS, type FileLimits, inWords } from "./file-limits.ts";
import type { ReceivedFile } from "./received-file.ts";

/**
 * Stores the content of a file, unless the organization has the same content already. Other
 * transactions that add or remove contents of the organization wait until this one ends. Throws
 * bad_request if the organization's files would become too large together.
 */
export async function storeContent(
	client: PoolClient,
	organizationId: string,
	file: ReceivedFile,
	limits: FileLimits = DEFAULT_LIMITS,
): Promise<void> {
	await client.query("select lock_files_of($1)", [organizationId]);
	const { rowCount } = await client.query(
		`insert into file_contents (organization_id, sha256, size_bytes) values ($1, $2, $3)
		on conflict do nothing`,
		[organizationId, file.sha256, file.sizeBytes],
	);
	if (rowCount === 1) await requireRoom(client, organizationId, 0, limits);
	else if (await hasChunks(client, organizationId, file.sha256)) return;
	let place = 0;
	for await (const bytes of file.parts()) {
		await client.query({
			name: "store.chunk",
			text: "insert into file_chunks (organization_id, sha256, place, bytes) values ($1, $2, $3, $4)",
			values: [organizationId, file.sha256, place++, bytes],
		});
	}
}

/** Returns false if the content came from a backup that left the contents of files out. */
async function hasChunks(
	client: PoolClient,
	organizationId: string,
	sha256: Buffer,
): Promise<boolean> {
	const { rowCount } = await client.query(
		"select from file_chunks where organization_id = $1 and sha256 = $2 and place = 0",
		[organizationId, sha256],
	);
	return rowCount === 1;
}

/**
 * Throws bad_request if the files of the organization have more bytes than they may have, together
 * with `moreBytes` that are about to come.
 */
export async function requireRoom(
	client: PoolClient,
	organizationId: string,
	moreBytes: number,
	{ maxTotalBytes }: FileLimits = DEFAULT_LIMITS,
): Promise<void> {
	const { rows } = await client.query<{ used: number }>(
		"select coalesce(sum(size_bytes), 0)::float8 as used from file_contents where organization_id = $1",
		[organizationId],
	);
	if ((rows[0]?.used ?? 0) + moreBytes <= maxTotalBytes) return;
	throw new AppError(
		"bad_request",
		`the files of the organization may have at most ${inWords(maxTotalBytes)} together; delete evidence that is no longer needed`,
	);
}

/**
 * Returns the content of a file in parts. Each part is read by a transaction of its own, so a slow
 * receiver holds no connection. Throws if the content vanishes meanwhile.
 */
export async function* readContent(
	pool: Pool,
	organizationId: string,
	sha256: string,
	sizeBytes: number,
): AsyncGenerator<Buffer> {
	const scope = { organizationId, isReadOnly: true };
	for (let place = 0, sent = 0; sent < sizeBytes; place++) {
		const { rows } = await retriedTransaction(pool, scope, (client) =>
			client.query<{ bytes: Buffer }>({
				name: "read.chunk",
				text: `select bytes from file_chunks
					where organization_id = $1 and sha256 = decode($2, 'hex') and place = $3`,
				values: [organizationId, sha256, place],
			}),
		);
		const bytes = rows[0]?.bytes;
		if (!bytes) throw new Error("the content of the file is gone");
		sent += bytes.length;
		yield bytes;
	}
}
