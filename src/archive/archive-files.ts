import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { setRole } from "../db/roles.ts";
import { type ArchiveStore, digestOf } from "./archive-store.ts";

/** A file of the archive. */
export interface ArchiveFile {
	name: string;
	organization_id: string;
	/** The month in which the reports were received, in UTC, as YYYY-MM. */
	month: string;
	first_device_id: string;
	last_device_id: string;
	/** Number of results, which are the rows of the file. */
	results: number;
	bytes: number;
	/** In hexadecimal digits. */
	sha256: string;
	/** In RFC 3339. */
	stored_at: string;
	/** Number of its devices that were deleted or whose reports were extended since then. */
	changed_devices: number;
	/** True if the database no longer has the reports, because the retention has passed. */
	is_only_copy: boolean;
}

/** Returns the name of a file. Query engines take its folders as columns. */
export function nameOf(file: {
	organizationId: string;
	/** The first day of the month. */
	month: string;
	part: number;
}): string {
	const month = file.month.slice(0, 7);
	const part = String(file.part).padStart(5, "0");
	return `organization_id=${file.organizationId}/month=${month}/part-${part}.parquet`;
}

/**
 * Returns the files that are complete, by month and name; all, or those of an organization. The
 * connection must be the owner's.
 */
export async function readArchiveFiles(
	connection: ClientConfig,
	organizationId?: string,
): Promise<ArchiveFile[]> {
	const client = new Client(connection);
	await client.connect();
	try {
		await client.query("begin read only");
		await client.query(setRole("agent", "transaction"));
		const { rows } = await client.query<ArchiveFile>(
			`select f.name, f.organization_id, to_char(f.month, 'YYYY-MM') as month,
				f.first_device_id, f.last_device_id, f.results::float8 as results,
				f.bytes::float8 as bytes, encode(f.sha256, 'hex') as sha256,
				to_char(f.stored_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as stored_at,
				(
					select count(*) from archive_changes c
					where c.organization_id = f.organization_id and c.month = f.month
						and c.device_id between f.first_device_id and f.last_device_id
				)::integer as changed_devices,
				f.is_only_copy
			from archive_files f
			where f.sha256 is not null and ($1::text is null or f.organization_id = $1)
			order by f.month, f.name`,
			[organizationId],
		);
		return rows;
	} finally {
		await client.end();
	}
}

/** A file that the archive lacks or that has other bytes. */
export interface ArchiveFault {
	name: string;
	fault: "missing" | "different";
}

/** Reads every file from the store and compares its SHA-256. Returns the faults. */
export async function findArchiveFaults(
	store: ArchiveStore,
	files: readonly ArchiveFile[],
): Promise<ArchiveFault[]> {
	const folder = await mkdtemp(join(tmpdir(), "assay-archive-"));
	const faults: ArchiveFault[] = [];
	try {
		const copy = join(folder, "copy");
		for (const { name, sha256 } of files) {
			if (!(await store.get(name, copy))) {
				faults.push({ name, fault: "missing" });
			} else if ((await digestOf(copy)).sha256 !== sha256) {
				faults.push({ name, fault: "different" });
			}
		}
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
	return faults;
}
