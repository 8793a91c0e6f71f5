import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { ARCHIVE_LOCK } from "../db/advisory-locks.ts";
import { setRole } from "../db/roles.ts";
import { sessionOf } from "../db/session.ts";
import { isLockTimeout } from "../db/sqlstate.ts";
import { nameOf } from "./archive-files.ts";
import { type ArchiveStore, digestOf } from "./archive-store.ts";
import { readPackedResults } from "./packed-results.ts";
import {
	digestOfRows,
	ParquetFile,
	type ResultRow,
	type RowsDigest,
	readParquetFile,
} from "./parquet-file.ts";

/** Number of devices in a file: about 5 million results of hourly reports. */
export const FILE_DEVICES = 1_000;

const SESSION = sessionOf("none", {
	lock_timeout: "1s",
	statement_timeout: "60s",
	timezone: "UTC",
});

export interface ArchiveOptions {
	/** Devices of a file; for tests. */
	fileDevices?: number;
	/** The rest after each step, as a multiple of its duration. */
	rest?: number;
}

export interface Archiving {
	/** First days of the months that were archived completely. */
	archived: string[];
	/** Number of files that were written again, because devices were deleted or reports extended. */
	rewritten: number;
	/** Number of files of deleted organizations that were deleted. */
	removed: number;
	/** False if another program held a lock. The caller should try again. */
	isDone: boolean;
}

interface Part {
	organizationId: string;
	/** The first day of the month. */
	month: string;
	part: number;
	firstDevice: string;
	lastDevice: string;
}

/**
 * Brings the archive up to date: deletes the files of deleted organizations, archives the packed
 * months that are not yet in it, and writes files again whose devices were deleted or whose reports
 * were extended. Every file is read back and compared with what was read from the database. An
 * interrupted run can be repeated at any moment.
 *
 * Acts as the owner of the tables only to lock them. All rows are read as assay_agent.
 */
export async function archiveClosedMonths(
	connection: ClientConfig,
	store: ArchiveStore,
	options: ArchiveOptions = {},
): Promise<Archiving> {
	const client = new Client({
		...connection,
		application_name: "assay archive",
		connectionTimeoutMillis: 5_000,
		query_timeout: 65_000,
	});
	// The connection may be lost between two queries. Without a listener, this event would then end
	// the process.
	client.on("error", () => {});
	const result: Archiving = {
		archived: [],
		rewritten: 0,
		removed: 0,
		isDone: false,
	};
	const folder = await mkdtemp(join(tmpdir(), "assay-archive-"));
	try {
		await client.connect();
		await client.query(SESSION);
		const { rows } = await client.query<{ ours: boolean }>(
			"select pg_try_advisory_lock($1) as ours",
			[ARCHIVE_LOCK],
		);
		if (!rows[0]?.ours) return { ...result, isDone: true };
		const archive = new Archive(client, store, folder, options);
		result.removed = await archive.removeLeftovers();
		for (const month of await archive.findMonths()) {
			await archive.addMonth(month);
			result.archived.push(month);
		}
		result.rewritten = await archive.repairFiles();
		result.isDone = true;
	} catch (error) {
		if (!isLockTimeout(error)) throw error;
	} finally {
		await client.end();
		await rm(folder, { recursive: true, force: true });
	}
	return result;
}

class Archive {
	readonly #client: Client;
	readonly #store: ArchiveStore;
	/** A folder for the file that is being written, and for its copy that is read back. */
	readonly #folder: string;
	readonly #options: ArchiveOptions;

	constructor(
		client: Client,
		store: ArchiveStore,
		folder: string,
		options: ArchiveOptions,
	) {
		this.#client = client;
		this.#store = store;
		this.#folder = folder;
		this.#options = options;
	}

	async removeLeftovers(): Promise<number> {
		const names = await this.#query<{ name: string }>(
			"select name from archive_leftovers order by name",
		);
		for (const { name } of names) {
			await this.#store.remove(name);
			await this.#query("delete from archive_leftovers where name = $1", [
				name,
			]);
		}
		return names.length;
	}

	/** Returns the packed months that are not yet in the archive, oldest first. */
	async findMonths(): Promise<string[]> {
		const months = await this.#query<{ month: string }>(
			`select to_char(m.month, 'YYYY-MM-DD') as month
			from pg_inherits i
			join pg_class c on c.oid = i.inhrelid
			cross join lateral (select to_date(right(c.relname, 7), 'YYYY_MM') as month) m
			where i.inhparent = 'packed_posture_reports'::regclass
				and c.relname ~ '^packed_posture_reports_\\d{4}_\\d\\d$'
				and not exists (select from archived_months a where a.month = m.month)
			order by 1`,
		);
		return months.map(({ month }) => month);
	}

	async addMonth(month: string): Promise<void> {
		for (
			let organizationId = await this.#nextOrganization(month, "");
			organizationId !== undefined;
			organizationId = await this.#nextOrganization(month, organizationId)
		) {
			await this.#addOrganization(month, organizationId);
		}
		await this.#query("insert into archived_months (month) values ($1)", [
			month,
		]);
	}

	async #nextOrganization(
		month: string,
		after: string,
	): Promise<string | undefined> {
		const [row] = await this.#query<{ id: string }>(
			`select organization_id as id from packed_posture_reports
			where month = $1 and organization_id > $2 order by organization_id limit 1`,
			[month, after],
		);
		return row?.id;
	}

	async #addOrganization(month: string, organizationId: string): Promise<void> {
		const of = [organizationId, month];
		const [done] = await this.#query<{ part: number; device: string }>(
			`select part, last_device_id as device from archive_files
			where organization_id = $1 and month = $2 and sha256 is not null
			order by part desc limit 1`,
			of,
		);
		let part = done?.part ?? 0;
		let after = done?.device ?? "";
		for (;;) {
			const [range] = await this.#query<{
				first: string | null;
				last: string | null;
			}>(
				`select min(d.device_id) as first, max(d.device_id) as last from (
					select device_id from packed_posture_reports
					where organization_id = $1 and month = $2 and device_id > $3
					order by device_id limit $4
				) d`,
				[...of, after, this.#options.fileDevices ?? FILE_DEVICES],
			);
			if (!range?.first || !range.last) return;
			part++;
			const file: Part = {
				organizationId,
				month,
				part,
				firstDevice: range.first,
				lastDevice: range.last,
			};
			await this.#announce(file);
			await this.#write(file, this.#readPacked(file));
			after = range.last;
		}
	}

	/**
	 * Adds the row of a file that will be written. From then on, every change of its devices is noted.
	 * Changes that began before are finished when this returns, so that the next statement sees them.
	 */
	async #announce(file: Part): Promise<void> {
		await this.#query(
			`insert into archive_files (organization_id, month, part, name, first_device_id, last_device_id)
			values ($1, $2, $3, $4, $5, $6)
			on conflict (organization_id, month, part) do update
			set first_device_id = excluded.first_device_id, last_device_id = excluded.last_device_id`,
			[
				file.organizationId,
				file.month,
				file.part,
				nameOf(file),
				file.firstDevice,
				file.lastDevice,
			],
		);
		await this.#waitForWriters(file.month);
	}

	async #waitForWriters(month: string): Promise<void> {
		const name = `packed_posture_reports_${month.slice(0, 7).replace("-", "_")}`;
		await this.#client.query(`begin; lock table ${name} in share mode; commit`);
	}

	/**
	 * Writes again the files with devices that were deleted or whose reports were extended. Other rows
	 * come from the file, because their month may be gone from the database.
	 */
	async repairFiles(): Promise<number> {
		let repaired = 0;
		for (;;) {
			const [file] = await this.#query<Part & { isPacked: boolean }>(
				`select f.organization_id as "organizationId", to_char(f.month, 'YYYY-MM-DD') as month, f.part,
					f.first_device_id as "firstDevice", f.last_device_id as "lastDevice",
					to_regclass('packed_posture_reports_' || to_char(f.month, 'YYYY_MM')) is not null as "isPacked"
				from archive_changes c join archive_files f
					on f.organization_id = c.organization_id and f.month = c.month
					and c.device_id between f.first_device_id and f.last_device_id
				where f.sha256 is not null
				order by f.month, f.organization_id, f.part limit 1`,
			);
			if (!file) break;
			await this.#repair(file, file.isPacked);
			repaired++;
		}
		// Other changes concern files that are gone with their organization.
		await this.#query(
			`delete from archive_changes c where not exists (
				select from archive_files f
				where f.organization_id = c.organization_id and f.month = c.month
					and c.device_id between f.first_device_id and f.last_device_id
			)`,
		);
		return repaired;
	}

	async #repair(file: Part, isPacked: boolean): Promise<void> {
		// A change has another version when it is noted again.
		const changed = await this.#query<{ id: string; version: string }>(
			`select device_id as id, xmin::text as version from archive_changes
			where organization_id = $1 and month = $2 and device_id between $3 and $4`,
			[file.organizationId, file.month, file.firstDevice, file.lastDevice],
		);
		const ids = changed.map(({ id }) => id);
		if (isPacked) await this.#waitForWriters(file.month);
		await this.#write(file, this.#readRepaired(file, ids, isPacked));
		// Only now, so that no change is lost when the process is killed.
		await this.#query(
			`delete from archive_changes c using unnest($3::text[], $4::text[]) s (id, version)
			where c.organization_id = $1 and c.month = $2
				and c.device_id = s.id and c.xmin::text = s.version`,
			[
				file.organizationId,
				file.month,
				ids,
				changed.map(({ version }) => version),
			],
		);
	}

	/** If the month is gone from the database, only rows of deleted devices are left out. */
	async *#readRepaired(
		file: Part,
		changed: string[],
		isPacked: boolean,
	): AsyncGenerator<ResultRow> {
		const path = join(this.#folder, "stored");
		const name = nameOf(file);
		if (!(await this.#store.get(name, path))) {
			throw new Error(`the archive lacks the file ${name}`);
		}
		const replaced = new Set(
			isPacked ? changed : await this.#findDeleted(file, changed),
		);
		for await (const row of readParquetFile(path)) {
			if (!replaced.has(row.device_id)) yield row;
		}
		if (!isPacked) return;
		for (const device of changed.toSorted()) {
			yield* this.#readPacked({
				...file,
				firstDevice: device,
				lastDevice: device,
			});
		}
	}

	async #findDeleted(file: Part, devices: string[]): Promise<string[]> {
		const rows = await this.#query<{ id: string }>(
			`select c.id from unnest($2::text[]) c (id)
			where not exists (select from devices d where d.organization_id = $1 and d.id = c.id)`,
			[file.organizationId, devices],
		);
		return rows.map(({ id }) => id);
	}

	/** Stores a file, reads it back and compares its rows. Then notes that it is there. */
	async #write(file: Part, rows: AsyncIterable<ResultRow>): Promise<void> {
		const name = nameOf(file);
		const path = join(this.#folder, "new");
		const parquet = new ParquetFile(path);
		for await (const row of rows) parquet.add(row);
		const written = parquet.finish();
		const { bytes, sha256 } = await digestOf(path);
		await this.#store.put(path, name);
		await this.#compare(name, written);
		await this.#query(
			`update archive_files
			set results = $4, bytes = $5, sha256 = decode($6, 'hex'), stored_at = now()
			where organization_id = $1 and month = $2 and part = $3`,
			[file.organizationId, file.month, file.part, written.rows, bytes, sha256],
		);
	}

	async #compare(name: string, written: RowsDigest): Promise<void> {
		const copy = join(this.#folder, "copy");
		if (!(await this.#store.get(name, copy))) {
			throw new Error(`the archive accepted ${name}, but does not have it`);
		}
		const read = await digestOfRows(copy);
		if (read.rows !== written.rows || read.sha256 !== written.sha256) {
			throw new Error(
				`${name} in the archive differs from the database: ${read.rows} of ${written.rows} rows, or other values`,
			);
		}
	}

	#readPacked(of: Part): AsyncGenerator<ResultRow> {
		return readPackedResults(this.#client, of, this.#options.rest);
	}

	/** Runs a statement as the role that sees the reports of all organizations. */
	async #query<Row extends object>(
		text: string,
		values: unknown[] = [],
	): Promise<Row[]> {
		const client = this.#client;
		await client.query("begin");
		try {
			await client.query(setRole("agent", "transaction"));
			const { rows } = await client.query<Row>(text, values);
			await client.query("commit");
			return rows;
		} catch (error) {
			await client.query("rollback").catch(() => {});
			throw error;
		}
	}
}
