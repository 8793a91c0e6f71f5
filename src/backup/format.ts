import { createHash } from "node:crypto";
import { constants } from "node:zlib";
import { z } from "zod";
import { AppError } from "../errors.ts";

/**
 * A backup is a zstd frame and a seal. Decompressed it is text: a line of JSON, the manifest; for
 * each table a line `{table, columns}`, its rows as COPY writes them, a line `\.`, and a line
 * `{rows}`; at last a line `{end: true, tables, rows}`.
 *
 * The seal is the SHA-256 of all bytes before it, in a skippable frame, over which zstd's own tools
 * pass. So `zstdcat` reads a backup, and no byte of it can change unseen.
 */
export const FORMAT = "assay-backup";
export const FORMAT_VERSION = 1;

const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Magic number of a skippable frame, and its length: 32 bytes. */
const SEAL_HEAD = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 32, 0, 0, 0]);
export const SEAL_LENGTH = SEAL_HEAD.length + 32;

export const COMPRESSION = {
	params: { [constants.ZSTD_c_checksumFlag]: 1 },
	chunkSize: 256 * 1024,
};

export const END_OF_ROWS = Buffer.from("\\.\n");

const migration = z.object({
	version: z.int().positive(),
	name: z.string(),
	checksum: z.string(),
});

/** Enough of any version's manifest to say why it cannot be read. */
export const anyManifest = z.object({
	format: z.literal(FORMAT),
	version: z.int(),
	assay: z.string(),
});

export const manifestSchema = anyManifest.extend({
	/** RFC 3339: everything that was committed by then is in. */
	made_at: z.iso.datetime(),
	/** Of PostgreSQL. */
	server: z.string(),
	/** Oldest first: the schema that the rows are of. */
	migrations: z.array(migration).min(1),
	tables: z.array(z.string()),
	/** First days (UTC) of the months that raw posture reports have partitions for. */
	report_months: z.array(z.iso.date()),
});
export type Manifest = z.infer<typeof manifestSchema>;

export const tableHead = z.object({
	table: z.string(),
	columns: z.array(z.string()),
});
export const tableFoot = z.object({ rows: z.int().nonnegative() });
export const backupEnd = z.object({
	end: z.literal(true),
	tables: z.int().nonnegative(),
	rows: z.int().nonnegative(),
});

/** Rows by table, in the order of the file. */
export type RowCounts = Record<string, number>;

export function line(value: object): Buffer {
	return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** COPY writes a row as a line; a line break within it as `\n`. */
export function countRows(text: Buffer): number {
	let rows = 0;
	for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) {
		rows++;
	}
	return rows;
}

/** What goes through, with its seal behind it. */
export async function* seal(
	bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
	const hash = createHash("sha256");
	for await (const chunk of bytes) {
		hash.update(chunk);
		yield chunk;
	}
	yield Buffer.concat([SEAL_HEAD, hash.digest()]);
}

/** What goes through without its seal; throws at the end if that is missing or wrong. */
export async function* unseal(
	bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
	const hash = createHash("sha256");
	let kept: Buffer = Buffer.alloc(0);
	let isFirst = true;
	for await (const chunk of bytes) {
		kept = Buffer.concat([kept, chunk]);
		if (kept.length <= SEAL_LENGTH) continue;
		if (isFirst) requireZstd(kept);
		isFirst = false;
		const passed = kept.subarray(0, kept.length - SEAL_LENGTH);
		kept = kept.subarray(kept.length - SEAL_LENGTH);
		hash.update(passed);
		yield passed;
	}
	if (isFirst) requireZstd(kept);
	if (!kept.equals(Buffer.concat([SEAL_HEAD, hash.digest()]))) throw damaged();
}

function requireZstd(start: Buffer): void {
	if (!start.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC)) {
		throw noBackup();
	}
}

export function noBackup(): AppError {
	return new AppError(
		"bad_request",
		"this is no backup of Assay; `npx assay backup FILE` writes one",
	);
}

export function damaged(cause?: unknown): AppError {
	return new AppError(
		"bad_request",
		"the backup is damaged or cut off: it is not what was written; take another copy of it, or another backup",
		{ cause },
	);
}
