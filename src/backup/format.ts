import { constants } from "node:zlib";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { COMMAND } from "../version.ts";

/**
 * A backup or an export is a zstd frame followed by one or two seals. The decompressed text has these lines:
 *
 * - One line of JSON, the manifest.
 * - For each table: a line `{table, columns}`, the table's rows as COPY writes them, a line `\.`,
 *   and a line `{rows}`.
 * - At the end, a line `{end: true, tables, rows}`.
 *
 * The seal is the SHA-256 of all bytes before it, in a skippable frame, which zstd's own tools
 * ignore. Therefore `zstdcat` can read a backup, and damage to any byte is noticed. A second such
 * frame may follow, the keyed seal: an HMAC-SHA-256 of all bytes before it. Only somebody who has
 * the key can write a backup with the right keyed seal (seal.ts).
 */
export const FORMATS = {
	/** Everything in an installation. */
	backup: "assay-backup",
	/** One organization. */
	organization: "assay-organization",
} as const;
export type FileKind = keyof typeof FORMATS;
export const FORMAT_VERSION = 1;

/** The bytes with which every backup begins. */
export const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
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

/**
 * The part that every version's manifest has. It is enough to explain why this version cannot read
 * a backup.
 */
export const anyManifest = z.object({
	format: z.enum(Object.values(FORMATS)),
	version: z.int(),
	assay: z.string(),
});

export const manifestSchema = anyManifest.extend({
	/** Time of the backup (RFC 3339). The backup contains everything that was committed before it. */
	made_at: z.iso.datetime(),
	/** Version of the PostgreSQL server. */
	server: z.string(),
	/** The migrations that made the schema of the rows, oldest first. */
	migrations: z.array(migration).min(1),
	tables: z.array(z.string()),
	/** The months whose raw posture reports have partitions, each as its first day in UTC. */
	report_months: z.array(z.iso.date()),
	/** The organization that an export contains. A backup contains all and names none. */
	organization: z.object({ id: z.string(), name: z.string() }).optional(),
	/** What somebody left out on purpose. Backups do not say it. */
	left_out: z.array(z.enum(["files", "reports"])).optional(),
	/** The months whose reports are packed. */
	packed_months: z.array(z.iso.date()).default([]),
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

/** Number of rows of each table, in the order of the file. */
export type RowCounts = Record<string, number>;

export function line(value: object): Buffer {
	return Buffer.from(`${JSON.stringify(value)}\n`);
}

/**
 * Counts the rows in a part of COPY's text. COPY writes each row as one line, and writes a line
 * break within a value as `\n`.
 */
export function countRows(text: Buffer): number {
	let rows = 0;
	for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) {
		rows++;
	}
	return rows;
}

/** Throws bad_request unless the bytes begin like a zstd frame. */
export function requireZstd(start: Buffer): void {
	if (!start.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC)) {
		throw noBackup();
	}
}

export function noBackup(): AppError {
	return new AppError(
		"bad_request",
		`the file is not a backup of Assay, and no export of an organization; \`${COMMAND} backup FILE\` and \`${COMMAND} org export ID FILE\` write them`,
	);
}

/** The error for a file that is sound, but of the other kind. */
export function otherKind(found: Manifest["format"]): AppError {
	return new AppError(
		"bad_request",
		found === FORMATS.organization
			? `the file contains one organization and is no backup; \`${COMMAND} org import FILE\` imports it`
			: `the file is a backup of a whole installation and no export of one organization; \`${COMMAND} restore FILE\` restores it`,
	);
}

export function damaged(cause?: unknown): AppError {
	return new AppError(
		"bad_request",
		"the file is damaged or cut off; use another copy of it, or another file",
		{ cause },
	);
}
