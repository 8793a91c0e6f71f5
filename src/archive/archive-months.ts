import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { ARCHIVE_LOCK } from "../db/advisory-locks.ts";
import { sessionOf } from "../db/server-sessions.ts";
import { isLockTimeout } from "../db/sqlstate.ts";
import { addMonths } from "./add-month.ts";
import {
	type ArchiveFailure,
	type ArchiveOptions,
	ArchiveSession,
} from "./archive-session.ts";
import type { ArchiveStore } from "./archive-store.ts";
import { removeLeftovers, repairFiles } from "./repair-files.ts";

const SESSION = sessionOf("none", {
	lock_timeout: "1s",
	statement_timeout: "60s",
	timezone: "UTC",
});

export interface Archiving {
	/** First days of the months that were archived completely. */
	archived: string[];
	/** Number of files that were written again, because devices were deleted or reports extended. */
	rewritten: number;
	/** Number of files of deleted organizations that were deleted. */
	removed: number;
	/** Files and months that failed. The next call tries them again. */
	failures: ArchiveFailure[];
	/** False if another program held a lock. The caller should try again soon. */
	isDone: boolean;
}

/**
 * Brings the archive up to date: deletes the files of deleted organizations, writes files again whose
 * devices were deleted or whose reports were extended, and archives the packed months that are not yet
 * in it. Every file is read back and compared with what was read from the database. A file that fails
 * does not stop the others. An interrupted run can be repeated at any moment.
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
	const folder = await mkdtemp(join(tmpdir(), "assay-archive-"));
	const session = new ArchiveSession(client, store, folder, options);
	const result: Archiving = {
		archived: [],
		rewritten: 0,
		removed: 0,
		failures: session.failures,
		isDone: false,
	};
	try {
		await client.connect();
		await client.query(SESSION);
		const { rows } = await client.query<{ ours: boolean }>(
			"select pg_try_advisory_lock($1) as ours",
			[ARCHIVE_LOCK],
		);
		if (!rows[0]?.ours) return { ...result, isDone: true };
		result.removed = await removeLeftovers(session);
		session.beginTask();
		result.rewritten = await repairFiles(session);
		session.beginTask();
		result.archived = await addMonths(session);
		result.isDone = true;
	} catch (error) {
		if (!isLockTimeout(error)) throw error;
	} finally {
		await client.end();
		await rm(folder, { recursive: true, force: true });
	}
	return result;
}
