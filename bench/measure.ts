import { readdirSync, readFileSync } from "node:fs";
import type { Client } from "pg";

/**
 * Linux reports processor time in hundredths of a second, regardless of how its kernel was built.
 */
const TICKS_PER_SECOND = 100;

/** Counters at one time. The difference of two is a rate. */
export interface Usage {
	/** The time by performance.now()'s clock. */
	atMs: number;
	/**
	 * Processor seconds of the service's first process and its workers. NaN on systems other than
	 * Linux.
	 */
	server: number;
	/**
	 * Processor seconds of PostgreSQL: its main process, the children, and the children that have
	 * exited.
	 */
	postgres: number;
	/** The number of transactions that were committed in the database. */
	commits: number;
	/** Bytes of the write-ahead log, and the whole pages in it. */
	walBytes: number;
	walPages: number;
	/** Blocks that PostgreSQL did not have in its buffers. */
	blocksRead: number;
}

export interface Rates {
	/** Processor time in percent of one core. */
	serverCpu: number;
	postgresCpu: number;
	commitsPerSecond: number;
	walBytesPerSecond: number;
	walPagesPerSecond: number;
	blocksReadPerSecond: number;
}

/** The processes to watch. If one is not given, its figures are NaN. */
export interface Watched {
	serverPid: number;
	postmasterPid?: number;
	client?: Client;
}

export async function readUsage(watched: Watched): Promise<Usage> {
	const counted = await watched.client?.query<
		Pick<Usage, "commits" | "walBytes" | "walPages" | "blocksRead">
	>(
		`select d.xact_commit::float8 as commits, d.blks_read::float8 as "blocksRead",
			w.wal_bytes::float8 as "walBytes", w.wal_fpi::float8 as "walPages"
		from pg_stat_database d cross join pg_stat_wal w where d.datname = current_database()`,
	);
	const none = { commits: NaN, walBytes: NaN, walPages: NaN, blocksRead: NaN };
	return {
		atMs: performance.now(),
		server: serverPids(watched).reduce(
			(sum, pid) => sum + (readStat(pid)?.own ?? NaN),
			0,
		),
		postgres: postgresSeconds(watched.postmasterPid),
		...(counted?.rows[0] ?? none),
	};
}

/**
 * Computes the rates between two readings. PostgreSQL's sessions publish their number of commits
 * about once a second. Both readings are late by the same time, so over several seconds of steady
 * load the rate is correct.
 */
export function ratesBetween(before: Usage, after: Usage): Rates {
	const seconds = (after.atMs - before.atMs) / 1000;
	return {
		serverCpu: ((after.server - before.server) / seconds) * 100,
		postgresCpu: ((after.postgres - before.postgres) / seconds) * 100,
		commitsPerSecond: (after.commits - before.commits) / seconds,
		walBytesPerSecond: (after.walBytes - before.walBytes) / seconds,
		walPagesPerSecond: (after.walPages - before.walPages) / seconds,
		blocksReadPerSecond: (after.blocksRead - before.blocksRead) / seconds,
	};
}

interface Stat {
	parent: number;
	/** Processor seconds of the process itself. */
	own: number;
	/** Processor seconds of those of its children that have exited. */
	exited: number;
}

/** Returns undefined if the process has ended. */
export function readStat(pid: number): Stat | undefined {
	const text = readText(`/proc/${pid}/stat`);
	// The second field is the name in parentheses, which may contain anything, including blanks.
	const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
	if (fields.length < 15) return undefined;
	const seconds = (index: number) => Number(fields[index]) / TICKS_PER_SECOND;
	return {
		parent: Number(fields[1]),
		own: seconds(11) + seconds(12),
		exited: seconds(13) + seconds(14),
	};
}

function childrenOf(parent: number): { pid: number; stat: Stat }[] {
	if (process.platform !== "linux") return [];
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.map((name) => ({ pid: Number(name), stat: readStat(Number(name)) }))
		.filter(
			(child): child is { pid: number; stat: Stat } =>
				child.stat?.parent === parent,
		);
}

/**
 * Returns the ids of the service's processes: the first one, and all its children except the
 * database.
 */
function serverPids({ serverPid, postmasterPid }: Watched): number[] {
	const children = childrenOf(serverPid).map(({ pid }) => pid);
	return [serverPid, ...children.filter((pid) => pid !== postmasterPid)];
}

/** Returns the processor seconds of PostgreSQL. NaN if its process is unknown or has ended. */
export function postgresSeconds(postmaster: number | undefined): number {
	const stat = postmaster === undefined ? undefined : readStat(postmaster);
	if (!stat || postmaster === undefined) return NaN;
	return childrenOf(postmaster).reduce(
		(sum, child) => sum + child.stat.own,
		stat.own + stat.exited,
	);
}

export interface Memory {
	/** Resident memory of the largest process of the service, in MiB. NaN if it cannot be read. */
	serverMib: number;
	/** The most that a process of the service has had since its start. */
	serverPeakMib: number;
	/** Memory of all PostgreSQL processes in MiB. Memory that they share is counted once. */
	postgresMib: number;
}

export function readMemory(serverPid: number, postmaster: number): Memory {
	const kib = (file: string, name: string) =>
		Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readText(file))?.[1]);
	const pids = [postmaster, ...childrenOf(postmaster).map(({ pid }) => pid)];
	const postgres = pids.map((pid) => kib(`/proc/${pid}/smaps_rollup`, "Pss"));
	const servers = serverPids({ serverPid, postmasterPid: postmaster });
	const largest = (name: string) =>
		Math.max(...servers.map((pid) => kib(`/proc/${pid}/status`, name) / 1024));
	return {
		serverMib: largest("VmRSS"),
		serverPeakMib: largest("VmHWM"),
		postgresMib: postgres.reduce((sum, part) => sum + part, 0) / 1024,
	};
}

export interface Updates {
	table: string;
	updates: number;
	/** Percent of the updates that were HOT: the row stayed on its page and no index changed. */
	hot: number;
}

/**
 * Returns statistics about updates of the two tables whose rows the devices update, since the
 * database was created.
 */
export async function readUpdates(client: Client): Promise<Updates[]> {
	const { rows } = await client.query<Updates>(
		`select relname as table, n_tup_upd::float8 as updates,
			100 * n_tup_hot_upd / greatest(n_tup_upd, 1)::float8 as hot
		from pg_stat_user_tables
		where relname in ('devices', 'posture_spans')
		order by relname`,
	);
	return rows;
}

function readText(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
