import { join } from "node:path";
import type { Client } from "pg";
import { MOVED_MONTH_LOCK } from "../db/advisory-locks.ts";
import { setRole } from "../db/roles.ts";
import { isLockTimeout } from "../db/sqlstate.ts";
import { isConnectionTrouble } from "../errors.ts";
import { partitionOf } from "../retention/partition-name.ts";
import { nameOf } from "./archive-files.ts";
import { type ArchiveStore, digestOf } from "./archive-store.ts";
import { readPackedResults } from "./packed-results.ts";
import {
	digestOfRows,
	ParquetFile,
	type ResultRow,
	type RowsDigest,
} from "./parquet-file.ts";

export interface ArchiveOptions {
	/** Devices of a file; for tests. */
	fileDevices?: number;
	/** The rest after each step, as a multiple of its duration. */
	rest?: number;
}

/** A file of the archive, and the devices whose reports are in it. */
export interface Part {
	organizationId: string;
	/** The first day of the month. */
	month: string;
	part: number;
	firstDevice: string;
	lastDevice: string;
}

/** A file or a month that failed. The run goes on with the others. */
export interface ArchiveFailure {
	/** Name of the file, or the month. */
	name: string;
	reason: string;
}

/** Failures in a row after which a task ends, because the store probably cannot be reached. */
const MOST_FAILURES = 5;

/** A run of the archive: its connection, its store, and what has failed. */
export class ArchiveSession {
	readonly client: Client;
	readonly store: ArchiveStore;
	readonly options: ArchiveOptions;
	readonly failures: ArchiveFailure[] = [];
	/** A folder for the file that is being written, and for its copy that is read back. */
	readonly #folder: string;
	#failuresInRow = 0;

	constructor(
		client: Client,
		store: ArchiveStore,
		folder: string,
		options: ArchiveOptions,
	) {
		this.client = client;
		this.store = store;
		this.#folder = folder;
		this.options = options;
	}

	/**
	 * Does a part of a task. Returns "stop" if the rest of the task should wait for the next run. Throws
	 * only if the database cannot be reached, or if a lock is held.
	 */
	async attempt(
		name: string,
		work: () => Promise<void>,
	): Promise<"done" | "failed" | "stop"> {
		try {
			await work();
			this.#failuresInRow = 0;
			return "done";
		} catch (error) {
			if (isConnectionTrouble(error) || isLockTimeout(error)) throw error;
			this.failures.push({ name, reason: (error as Error).message });
			this.#failuresInRow++;
			return this.#failuresInRow < MOST_FAILURES ? "failed" : "stop";
		}
	}

	/** Begins another task, which may succeed although the one before failed. */
	beginTask(): void {
		this.#failuresInRow = 0;
	}

	/** Reads a stored file. Returns its path and its SHA-256, or undefined if there is none. */
	async fetch(
		name: string,
	): Promise<{ path: string; sha256: string } | undefined> {
		const path = join(this.#folder, "stored");
		if (!(await this.store.get(name, path))) return undefined;
		return { path, sha256: (await digestOf(path)).sha256 };
	}

	/** Stores a file, reads it back and compares its rows. Then notes that it is there. */
	async write(file: Part, rows: AsyncIterable<ResultRow>): Promise<void> {
		const name = nameOf(file);
		const path = join(this.#folder, "new");
		const parquet = new ParquetFile(path);
		for await (const row of rows) parquet.add(row);
		const written = parquet.finish();
		const { bytes, sha256 } = await digestOf(path);
		await this.store.put(path, name);
		await this.#compare(name, written);
		await this.query(
			`update archive_files
			set results = $4, bytes = $5, sha256 = decode($6, 'hex'), stored_at = now()
			where organization_id = $1 and month = $2 and part = $3`,
			[file.organizationId, file.month, file.part, written.rows, bytes, sha256],
		);
	}

	async #compare(name: string, written: RowsDigest): Promise<void> {
		const copy = join(this.#folder, "copy");
		if (!(await this.store.get(name, copy))) {
			throw new Error(`the archive accepted ${name}, but does not have it`);
		}
		const read = await digestOfRows(copy);
		if (read.rows !== written.rows || read.sha256 !== written.sha256) {
			throw new Error(
				`${name} in the archive differs from the database: ${read.rows} of ${written.rows} rows, or other values`,
			);
		}
	}

	/** Reads the packed reports of the devices of a file. */
	readPacked(of: Part): AsyncGenerator<ResultRow> {
		return readPackedResults(this.client, of, this.options.rest);
	}

	/** Waits for changes of the month's packed reports, so that the next statement sees them. */
	async waitForWriters(month: string): Promise<void> {
		const table = partitionOf("packed_posture_reports", month);
		await this.client.query(`begin; lock table ${table} in share mode; commit`);
	}

	/** Runs a statement as the role that sees the reports of all organizations. */
	async query<Row extends object>(
		text: string,
		values: unknown[] = [],
	): Promise<Row[]> {
		return this.#inTransaction(() => this.client.query<Row>(text, values));
	}

	/** Runs a statement as that role while packing moves no reports into the month. */
	async queryBetweenMoves<Row extends object>(
		month: string,
		text: string,
		values: unknown[],
	): Promise<Row[]> {
		const number = month.slice(0, 7).replace("-", "");
		return this.#inTransaction(
			() => this.client.query<Row>(text, values),
			`select pg_advisory_xact_lock(${MOVED_MONTH_LOCK}, ${number})`,
		);
	}

	async #inTransaction<Row>(
		work: () => Promise<{ rows: Row[] }>,
		before = "",
	): Promise<Row[]> {
		const { client } = this;
		await client.query(`begin; ${before}`);
		try {
			await client.query(setRole("agent", "transaction"));
			const { rows } = await work();
			await client.query("commit");
			return rows;
		} catch (error) {
			await client.query("rollback").catch(() => {});
			throw error;
		}
	}
}
