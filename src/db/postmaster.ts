import { execFileSync, spawn } from "node:child_process";
import {
	closeSync,
	constants,
	fchownSync,
	openSync,
	readFileSync,
	rmSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors.ts";
import {
	asUser,
	type OsUser,
	type PostgresBinaries,
} from "./postgres-binaries.ts";

const STOP_TIMEOUT_MS = 30_000;

/** Port of the server. The name of its Unix socket ends with the same number. */
export const SOCKET_PORT = 5432;

/**
 * Settings of the server. They leave compression at its default, because the platform packages are
 * built without lz4 and zstd.
 */
const SETTINGS = {
	unix_socket_permissions: "0700",
	shared_buffers: "256MB",
	effective_cache_size: "1GB",
	max_wal_size: "4GB",
	checkpoint_timeout: "15min",
	jit: "off",
	random_page_cost: "1.1",
	logging_collector: "on",
	log_directory: "log",
	log_filename: "postgresql-%a.log",
	log_rotation_age: "1d",
	log_rotation_size: "0",
	log_truncate_on_rotation: "on",
};

/**
 * Starts the server and returns without waiting until it accepts connections. With `port` 0 the
 * server uses a Unix socket in `pgdata` and no TCP. The server has a process group of its own,
 * because Ctrl-C in a terminal must not stop it before Assay has finished.
 */
export function startPostmaster(
	binaries: PostgresBinaries,
	pgdata: string,
	user: OsUser,
	port: number,
	maxConnections = 100,
): { pid: number | undefined; hasExited: () => boolean } {
	// The folder belongs to `user`, and this process may run as root. The process must therefore not
	// follow a link that `user` planted here.
	const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
	const log = openSync(
		join(pgdata, "start.log"),
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
		0o600,
	);
	if (user) fchownSync(log, user.uid, user.gid);
	// The server's working directory is PGDATA, so "." needs no quoting and no short path.
	const listen = port
		? { listen_addresses: "127.0.0.1", unix_socket_directories: "" }
		: { listen_addresses: "", unix_socket_directories: "." };
	const settings = {
		port: port || SOCKET_PORT,
		...listen,
		max_connections: maxConnections,
		...SETTINGS,
	};
	const child = spawn(
		join(binaries.bin, "postgres"),
		[
			"-D",
			pgdata,
			...Object.entries(settings).flatMap(([name, value]) => [
				"-c",
				`${name}=${value}`,
			]),
		],
		{ ...asUser(user), detached: true, stdio: ["ignore", log, log] },
	);
	let exited = false;
	child.once("error", (error) => {
		writeSync(log, `FATAL:  ${error.message}\n`);
		exited = true;
	});
	child.once("exit", () => {
		exited = true;
	});
	child.once("close", () => closeSync(log));
	child.unref();
	return { pid: child.pid, hasExited: () => exited };
}

/**
 * Returns the reason why the server with this pid gave up, in PostgreSQL's own words. PostgreSQL
 * writes to one file until its log collector runs, and to another file afterwards.
 */
export function readStartFailure(
	pgdata: string,
	pid: number | undefined,
): string {
	const early = readText(join(pgdata, "start.log"));
	const collected = /^stderr (.+)$/m.exec(
		readText(join(pgdata, "current_logfiles")),
	)?.[1];
	const late = collected ? readText(join(pgdata, collected)) : "";
	const since = late.indexOf(`[${pid}]`);
	const lines = (early + (since < 0 ? "" : late.slice(since))).split("\n");
	const reasons = lines
		.filter((line) => /(FATAL|PANIC|could not)/.test(line))
		.map((line) => line.replace(/^(?:.*?\] )?\w+:\s+/, ""));
	return reasons.join("; ") || early.trim() || "it gave no reason";
}

/**
 * Returns the process id of the server that runs in `pgdata`. The id in `postmaster.pid` counts
 * only if its process is that server, because after a crash any process may have the same id. If
 * somebody moved the folder while its server ran, PostgreSQL itself refuses to start a second
 * server.
 */
export function findPostmaster(pgdata: string): number | undefined {
	const pid = Number.parseInt(readText(join(pgdata, "postmaster.pid")), 10);
	return isPostmaster(pid, pgdata) ? pid : undefined;
}

function isPostmaster(pid: number, pgdata: string): boolean {
	return pid > 0 && `${readCommand(pid)} `.includes(` -D ${pgdata} `);
}

/**
 * Returns true if the server of `pgdata` takes connections. A process that is busy may notice that
 * in this file seconds before it has a connection.
 */
export function isReady(pgdata: string): boolean {
	const status = readText(join(pgdata, "postmaster.pid")).split("\n")[7];
	return status?.trim() === "ready";
}

/** Offset of `state` in PostgreSQL's ControlFileData, and its value DB_SHUTDOWNED. */
const STATE_OFFSET = 16;
const SHUT_DOWN = 1;

/**
 * Returns true if the last server of `pgdata` did not shut down, so that the next one recovers its
 * files. Returns false if that is not known.
 */
export function needsRecovery(pgdata: string): boolean {
	try {
		const control = readFileSync(join(pgdata, "global", "pg_control"));
		return control.readUInt32LE(STATE_OFFSET) !== SHUT_DOWN;
	} catch {
		// PostgreSQL itself says what is wrong with the file.
		return false;
	}
}

/** Removes files of a dead server, which a new server might take for files of a running one. */
export function clearStaleLocks(pgdata: string): void {
	for (const name of ["", ".lock"]) {
		rmSync(join(pgdata, `.s.PGSQL.${SOCKET_PORT}${name}`), { force: true });
	}
	rmSync(join(pgdata, "postmaster.pid"), { force: true });
}

/**
 * Returns the command line of a process. Returns an empty text when the process is dead, a zombie,
 * or hidden from this user.
 */
function readCommand(pid: number): string {
	if (process.platform === "linux") {
		return readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trimEnd();
	}
	const [program, ...args]: [string, ...string[]] =
		process.platform === "win32"
			? [
					"powershell",
					"-NoProfile",
					"-Command",
					`(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CommandLine`,
				]
			: ["ps", "-ww", "-o", "command=", "-p", String(pid)];
	try {
		return execFileSync(program, args, {
			encoding: "utf8",
			stdio: ["ignore", "pipe", "ignore"],
		}).trimEnd();
	} catch {
		return "";
	}
}

/**
 * Stops the server of `pgdata` in fast mode: PostgreSQL rolls back open transactions and shuts down
 * cleanly. Throws a service_unavailable AppError after 30 seconds, but the server continues to shut
 * down.
 */
export async function stopPostmaster(pgdata: string): Promise<void> {
	const deadline = Date.now() + STOP_TIMEOUT_MS;
	const pid = findPostmaster(pgdata);
	if (pid === undefined) return;
	process.kill(pid, "SIGINT");
	while (isPostmaster(pid, pgdata)) {
		if (Date.now() > deadline) {
			throw new AppError(
				"service_unavailable",
				`PostgreSQL (pid ${pid}) has not stopped after ${STOP_TIMEOUT_MS / 1000} seconds and still writes to ${pgdata}; it stops on its own when it has finished`,
			);
		}
		await sleep(20);
	}
}

function readText(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
