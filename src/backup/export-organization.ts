import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import type { Client, ClientConfig } from "pg";
import type { Head } from "../audit/read.ts";
import { EXPORT_LOCK } from "../db/advisory-locks.ts";
import { AppError } from "../errors.ts";
import { dayIn } from "../organizations/time-zone.ts";
import {
	COMPRESSION,
	FORMATS,
	type Manifest,
	type RowCounts,
} from "./format.ts";
import {
	organizationSources,
	type Part,
	readDanglingColumns,
} from "./organization-tables.ts";
import { openOwnerConnection } from "./owner-connection.ts";
import { readRows, type Source } from "./rows.ts";
import { seal } from "./seal.ts";
import { describe, lockTables } from "./write.ts";

export interface ExportOptions {
	leavesOut?: readonly Part[] | undefined;
	/** Key for the keyed seal. */
	key?: Buffer | undefined;
	/** Encrypts the file. Without it, the file is not encrypted. */
	encrypt?: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
	report?: (text: string) => void;
}

/** An export that has begun. It holds a connection until `content` ends or `close` is called. */
export interface OrganizationExport {
	manifest: Manifest;
	/** Day of the export in the organization's time zone, as YYYY-MM-DD. */
	day: string;
	/** The newest sealed entry of the audit log in the file. */
	head: Head | undefined;
	/** Number of rows of each table. It is complete at the end of `content`. */
	rows: RowCounts;
	/** The bytes of the file. They may be read once. */
	content: AsyncIterable<Buffer>;
	close: () => Promise<void>;
}

/**
 * Begins to export an organization as it is at this moment. Meanwhile the service continues, and the
 * use of memory does not depend on the size of the organization. The database has the newest schema.
 *
 * Throws not_found if there is no such organization, and conflict if another export of it runs.
 */
export async function openOrganizationExport(
	connection: ClientConfig,
	organizationId: string,
	{
		leavesOut = [],
		key,
		encrypt = (bytes) => bytes,
		report = () => {},
	}: ExportOptions = {},
): Promise<OrganizationExport> {
	const client = await openOwnerConnection(connection, "60s");
	try {
		await takeTurn(client, organizationId);
		await client.query("begin isolation level repeatable read read only");
		const { tables, manifest } = await describe(client);
		await lockTables(client, tables);
		const { name, time_zone, ...head } = await readOrganization(
			client,
			organizationId,
		);
		const sources = organizationSources(
			tables,
			await readDanglingColumns(client),
			organizationId,
			leavesOut,
		);
		const whole: Manifest = {
			...manifest,
			format: FORMATS.organization,
			tables: sources.map((source) => source.name),
			organization: { id: organizationId, name },
			left_out: [...leavesOut],
		};
		const rows: RowCounts = {};
		return {
			manifest: whole,
			day: dayIn(time_zone, whole.made_at),
			head: head.hash === null ? undefined : { ...head, hash: head.hash },
			rows,
			content: encrypt(
				seal(compress(client, whole, sources, rows, report), key),
			),
			close: () => client.end(),
		};
	} catch (error) {
		await client.end();
		throw error;
	}
}

/** Ends when the connection ends. */
async function takeTurn(client: Client, organizationId: string): Promise<void> {
	const { rows } = await client.query<{ ours: boolean }>(
		"select pg_try_advisory_lock($1, hashtext($2)) as ours",
		[EXPORT_LOCK, organizationId],
	);
	if (rows[0]?.ours) return;
	throw new AppError(
		"conflict",
		"this organization is being exported already; wait until that export has ended",
	);
}

async function readOrganization(client: Client, id: string) {
	const { rows } = await client.query<{
		name: string;
		time_zone: string;
		sequence: number;
		hash: string | null;
	}>(
		`select o.name, o.time_zone, coalesce(h.sequence, 0)::integer as sequence,
			encode(h.hash, 'hex') as hash
		from organizations o left join audit_heads h on h.organization_id = o.id
		where o.id = $1`,
		[id],
	);
	const [found] = rows;
	if (found) return found;
	throw new AppError(
		"not_found",
		`there is no organization ${id}; \`assay org list\` lists the organizations`,
	);
}

/** Yields the compressed text, and closes the connection at the end. */
async function* compress(
	client: Client,
	manifest: Manifest,
	sources: readonly Source[],
	rows: RowCounts,
	report: (text: string) => void,
): AsyncGenerator<Buffer> {
	const zstd = createZstdCompress(COMPRESSION);
	const text = Readable.from(readRows(client, manifest, sources, rows, report));
	// An error of the text reaches the reader through the compressed stream.
	const done = pipeline(text, zstd);
	done.catch(() => {});
	try {
		yield* zstd as AsyncIterable<Buffer>;
		await done;
	} finally {
		zstd.destroy();
		await client.end();
	}
}
