import { parentPort, workerData } from "node:worker_threads";
import type { ClientConfig } from "pg";
import type { ArchivePlace } from "../config/read-archive.ts";
import { connectionTo } from "../db/postgres-tls.ts";
import { archiveClosedMonths } from "./archive-months.ts";
import { openArchiveStore } from "./archive-store.ts";

/** The work of the thread, which it finds in its `workerData`. */
export interface ArchiveWork {
	place: ArchivePlace;
	/** The address of the database, or how to connect to the embedded one. */
	database: string | ClientConfig;
}

/** Brings the archive up to date, in a thread of its own. Posts what was done. */
const { place, database } = workerData as ArchiveWork;
parentPort?.postMessage(
	await archiveClosedMonths(
		// Options of TLS have functions, which cannot be passed to a thread.
		typeof database === "string" ? connectionTo(database) : database,
		openArchiveStore(place),
	),
);
