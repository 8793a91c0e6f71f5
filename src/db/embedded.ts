import { createServer } from "node:net";
import { constants, setPriority } from "node:os";
import { join as joinPath, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getSystemErrorMessage } from "node:util";
import type { Client } from "pg";
import { AppError } from "../errors.ts";
import { startDetached } from "./detached-program.ts";
import {
	connect,
	connectionOf,
	EmbeddedUser,
	hasOtherUsers,
} from "./embedded-users.ts";
import type { TellStep } from "./migrate.ts";
import {
	chooseOsUser,
	locateBinaries,
	type ResolvePackage,
} from "./postgres-binaries.ts";
import {
	type Cluster,
	checkCluster,
	clearDrafts,
	createCluster,
	openDataFolder,
	planCluster,
	readCluster,
	writeCluster,
} from "./postgres-cluster.ts";
import {
	clearStaleLocks,
	findPostmaster,
	isReady,
	needsRecovery,
	readStartFailure,
	SOCKET_PORT,
	startPostmaster,
	stopPostmaster,
} from "./postmaster.ts";
import { withStartLock } from "./start-lock.ts";

const START_TIMEOUT_MS = 60_000;
const IDLE_MS = 60_000;
/**
 * Longest path, in bytes, for which Assay uses a Unix socket. Linux allows 107 bytes and macOS 103.
 */
const MAX_SOCKET_PATH_BYTES = 100;
/**
 * Matches the messages of a failed start that is worth another attempt. The cause is temporary: the
 * last child processes of a dead server are still ending, or another program has just taken the
 * port.
 */
const PASSING = /pre-existing shared memory block|address already in use/i;

export interface EmbeddedPostgres {
	/** Options for `pg`'s Client and Pool. */
	readonly connection: {
		readonly host: string;
		readonly port: number;
		readonly user: string;
		readonly password: string;
		readonly database: string;
	};
	/**
	 * The way in which this process came to use the server:
	 *
	 * - "started": it started the server.
	 * - "joined": the server was running, and another live Assay process uses it.
	 * - "adopted": the server was running, but no live Assay process used it, because the last one
	 *   was killed.
	 */
	readonly origin: "started" | "joined" | "adopted";
	/** PostgreSQL's own data folder (PGDATA). */
	readonly directory: string;
	/**
	 * Process id of the postmaster. The id changes when the server is started again after a crash.
	 */
	readonly pid: number;
	/**
	 * Stops using the server. When no other Assay process uses the server, this also stops it.
	 * Calling `close` twice is harmless.
	 */
	close(): Promise<void>;
}

export interface EmbeddedOptions {
	/**
	 * Folder that root uses for files that PostgreSQL's user could not reach elsewhere. The default
	 * is `/var/lib/assay`.
	 */
	readonly baseFolder?: string;
	/**
	 * Finds the package with the binaries of this platform. The default searches as Node does,
	 * starting at this file.
	 */
	readonly resolvePackage?: ResolvePackage;
	/**
	 * Time that the server keeps running after all processes that used it were killed. The default is
	 * one minute.
	 */
	readonly idleMs?: number;
	/** Most connections to a server that this call starts. The default is 100. */
	readonly maxConnections?: number;
	/** Factor of the time that a new server has to accept a connection. By default 1. */
	readonly timeLimitFactor?: number;
	/** Is told each step of opening. */
	readonly tell?: TellStep | undefined;
}

/**
 * Opens the PostgreSQL of the data folder, which has a database `assay` afterwards. Joins the
 * server if it is running, else starts it, and creates the cluster first if there is none. Any
 * number of processes may open the same folder, and the last one to close it stops the server. If
 * the server dies earlier, one of the processes starts it again.
 *
 * Throws an AppError. The code is bad_request when there is no PostgreSQL for this platform or this
 * version cannot use the folder. The code is service_unavailable when the server does not start
 * within a minute or the operating system reports an error.
 */
export async function openEmbeddedPostgres(
	dataDir: string,
	options: EmbeddedOptions = {},
): Promise<EmbeddedPostgres> {
	try {
		const folder = openDataFolder(resolve(dataDir));
		return await use(folder, dataDir, () => joinOrStart(folder, options));
	} catch (error) {
		throw explain(error, dataDir);
	}
}

/** A running server, with the connection that marks this process as one of its users. */
interface Entry {
	readonly cluster: Cluster;
	readonly client: Client;
	readonly origin: EmbeddedPostgres["origin"];
	readonly pid: number;
}

const connectingTo = (folder: string) =>
	`connecting to the embedded PostgreSQL in ${folder}`;

async function joinOrStart(
	folder: string,
	options: EmbeddedOptions,
): Promise<Entry> {
	const known = readCluster(folder);
	options.tell?.(connectingTo(folder));
	const entry =
		(known && (await join(known))) ?? (await start(folder, options));
	const found = await entry.client.query(
		"select 1 from pg_database where datname = 'assay'",
	);
	if (found.rowCount === 0) await entry.client.query("create database assay");
	if (entry.origin !== "joined") {
		const keeper = startDetached(
			joinPath(import.meta.dirname, "stop-unused.ts"),
			[folder, String(options.idleMs ?? IDLE_MS)],
		);
		// It starts at the same time as the service, and nobody waits for it.
		lowerPriority(keeper.pid);
	}
	return entry;
}

/**
 * Joins the running server. Returns undefined when no server is running, or when the server stopped
 * before this process could connect.
 */
async function join(cluster: Cluster): Promise<Entry | undefined> {
	const { directory } = cluster;
	const pid = findPostmaster(directory);
	if (pid === undefined) return undefined;
	const client = await connect(
		cluster,
		() => findPostmaster(directory) === pid,
	);
	if (!client) return undefined;
	if (await hasOtherUsers(client))
		return { cluster, client, origin: "joined", pid };
	writeCluster({ ...cluster, ownerPid: process.pid });
	return { cluster, client, origin: "adopted", pid };
}

async function start(folder: string, options: EmbeddedOptions): Promise<Entry> {
	const baseFolder = options.baseFolder ?? "/var/lib/assay";
	let cluster = readCluster(folder) ?? planCluster(folder, baseFolder);
	const { directory } = cluster;
	const user = chooseOsUser(directory, folder);
	const copies = user ? baseFolder : joinPath(folder, "binaries");
	const binaries = await locateBinaries(user, copies, options.resolvePackage);
	checkCluster(cluster, binaries.major);
	clearDrafts(directory);
	if (!cluster.created) {
		// The password is written to disk before the cluster is created. If this process is killed in
		// between, the password is not lost.
		writeCluster(cluster);
		options.tell?.("making the files of PostgreSQL");
		await createCluster(cluster, binaries, user);
	}
	const deadline = Date.now() + START_TIMEOUT_MS;
	for (;;) {
		const port = await choosePort(cluster);
		cluster = { ...cluster, port, ownerPid: process.pid, created: true };
		writeCluster(cluster);
		clearStaleLocks(directory);
		const starting = needsRecovery(directory)
			? "starting PostgreSQL, which repairs its files because it was not shut down"
			: "starting PostgreSQL";
		options.tell?.(() =>
			isReady(directory) ? connectingTo(folder) : starting,
		);
		const server = startPostmaster(
			binaries,
			directory,
			user,
			port,
			options.maxConnections,
		);
		const client = await connect(cluster, () => !server.hasExited(), {
			timeLimitFactor: options.timeLimitFactor,
		});
		if (client && server.pid) {
			return { cluster, client, origin: "started", pid: server.pid };
		}
		const reason = readStartFailure(directory, server.pid);
		if (!PASSING.test(reason) || Date.now() > deadline) {
			throw new AppError(
				"service_unavailable",
				`PostgreSQL did not start in ${directory}: ${reason}`,
			);
		}
		await sleep(200);
	}
}

/**
 * Chooses the server's TCP port, or 0 for a Unix socket. Prefers the previous port if it is free,
 * so that the pools of other processes find the server again.
 */
async function choosePort({ directory, port }: Cluster): Promise<number> {
	const socket = joinPath(directory, `.s.PGSQL.${SOCKET_PORT}`);
	if (
		process.platform !== "win32" &&
		Buffer.byteLength(socket) <= MAX_SOCKET_PATH_BYTES
	) {
		return 0;
	}
	return (await freePort(port)) ?? (await freePort(0)) ?? 0;
}

function freePort(wanted: number): Promise<number | undefined> {
	return new Promise((done) => {
		const probe = createServer();
		probe.once("error", () => done(undefined));
		probe.listen(wanted, "127.0.0.1", () => {
			const address = probe.address();
			const port = typeof address === "object" ? address?.port : undefined;
			probe.close(() => done(port));
		});
	});
}

async function use(
	folder: string,
	dataDir: string,
	enter: () => Promise<Entry>,
): Promise<EmbeddedPostgres> {
	const first = await withStartLock(folder, enter);
	const { cluster } = first;
	const { directory } = cluster;
	let { pid } = first;
	const own = new EmbeddedUser(() =>
		withStartLock(folder, async () => {
			// This process called `close` while it waited for the lock. A server that it started now
			// would never be stopped.
			if (own.isReleased) return;
			const entry = await enter();
			pid = entry.pid;
			own.hold(entry.client);
		}),
	);
	own.hold(first.client);
	let closing: Promise<void> | undefined;
	const leave = async () => {
		const held = own.release();
		const isRunning = () => findPostmaster(directory) !== undefined;
		const asking = held ?? (await connect(cluster, isRunning));
		// If counting the users fails, the server keeps running. Stopping it could interrupt another
		// process.
		const others = asking && (await hasOtherUsers(asking).catch(() => true));
		await asking?.end();
		if (!others) await stopPostmaster(directory);
	};
	return {
		connection: connectionOf(cluster),
		origin: first.origin,
		directory,
		get pid() {
			return pid;
		},
		close() {
			closing ??= withStartLock(folder, leave)
				.catch((error) => {
					// On a full disk, nobody can write the lock, so nobody starts the server meanwhile.
					if (error.code !== "ENOSPC") throw error;
					return leave();
				})
				.catch((error) => {
					// The caller may try again.
					closing = undefined;
					throw explain(error, dataDir);
				});
			return closing;
		},
	};
}

function lowerPriority(pid: number | undefined): void {
	try {
		if (pid) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
	} catch {
		// The process has already ended, or the system does not allow it.
	}
}

/** Turns an error of the operating system into an AppError whose message names the folder. */
function explain(error: unknown, folder: string): unknown {
	if (error instanceof AppError || !(error instanceof Error)) return error;
	const {
		code,
		errno,
		path = "",
		syscall = "",
	} = error as NodeJS.ErrnoException;
	if (errno === undefined) return error;
	if (code === "ENOSPC") {
		return new AppError(
			"service_unavailable",
			`the disk with the data folder ${folder} is full; make room on it`,
			{ cause: error },
		);
	}
	const advice =
		code === "EACCES" || code === "EPERM"
			? `; set ASSAY_DATA_DIR to a folder of the user who runs this, or give that user the folder: chown -R USER ${folder}`
			: "";
	return new AppError(
		"service_unavailable",
		`the data folder ${folder} cannot be read or written: ${getSystemErrorMessage(errno)} (${syscall} ${path})${advice}`,
		{ cause: error },
	);
}
