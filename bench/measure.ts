import { readdirSync, readFileSync } from "node:fs";
import type { Client } from "pg";

/** Linux counts processor time in hundredths of a second, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;

/** Counters at one moment; two of them make a rate. */
export interface Usage {
	/** On performance.now()'s clock. */
	atMs: number;
	/** Processor seconds of the server process and its workers; NaN off Linux. */
	server: number;
	/** Processor seconds of PostgreSQL: the postmaster, its children, and those that have exited. */
	postgres: number;
	/** Transactions committed in the database. */
	commits: number;
}

export interface Rates {
	/** Percent of one core. */
	serverCpu: number;
	postgresCpu: number;
	commitsPerSecond: number;
}

/** The processes to watch. Absent parts count as NaN. */
export interface Watched {
	serverPid: number;
	postmasterPid?: number;
	client?: Client;
}

export async function readUsage(watched: Watched): Promise<Usage> {
	const commits = await watched.client?.query<{ commits: number }>(
		"select xact_commit::float8 as commits from pg_stat_database where datname = current_database()",
	);
	return {
		atMs: performance.now(),
		server: serverPids(watched).reduce(
			(sum, pid) => sum + (readStat(pid)?.own ?? NaN),
			0,
		),
		postgres: postgresSeconds(watched.postmasterPid),
		commits: commits?.rows[0]?.commits ?? NaN,
	};
}

/**
 * Computes the rates. PostgreSQL's sessions publish their commits about once a second, so both ends
 * are late by as much. Over some seconds of steady load the rate is right.
 */
export function ratesBetween(before: Usage, after: Usage): Rates {
	const seconds = (after.atMs - before.atMs) / 1000;
	return {
		serverCpu: ((after.server - before.server) / seconds) * 100,
		postgresCpu: ((after.postgres - before.postgres) / seconds) * 100,
		commitsPerSecond: (after.commits - before.commits) / seconds,
	};
}

interface Stat {
	parent: number;
	/** Processor seconds of the process. */
	own: number;
	/** Processor seconds of its children that have exited. */
	exited: number;
}

function readStat(pid: number): Stat | undefined {
	const text = readText(`/proc/${pid}/stat`);
	// The second field is a name in parentheses and may contain anything.
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

/** Returns the server and its workers: all its children except the database. */
function serverPids({ serverPid, postmasterPid }: Watched): number[] {
	const children = childrenOf(serverPid).map(({ pid }) => pid);
	return [serverPid, ...children.filter((pid) => pid !== postmasterPid)];
}

function postgresSeconds(postmaster: number | undefined): number {
	const stat = postmaster === undefined ? undefined : readStat(postmaster);
	if (!stat || postmaster === undefined) return NaN;
	return childrenOf(postmaster).reduce(
		(sum, child) => sum + child.stat.own,
		stat.own + stat.exited,
	);
}

export interface Memory {
	/** Resident set of the largest server process, MiB; NaN if it cannot be read. */
	serverMib: number;
	/** Proportional set of all PostgreSQL processes: what they share counts once. */
	postgresMib: number;
}

export function readMemory(serverPid: number, postmaster: number): Memory {
	const kib = (file: string, name: string) =>
		Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readText(file))?.[1]);
	const pids = [postmaster, ...childrenOf(postmaster).map(({ pid }) => pid)];
	const postgres = pids.map((pid) => kib(`/proc/${pid}/smaps_rollup`, "Pss"));
	return {
		serverMib: Math.max(
			...serverPids({ serverPid, postmasterPid: postmaster }).map(
				(pid) => kib(`/proc/${pid}/status`, "VmRSS") / 1024,
			),
		),
		postgresMib: postgres.reduce((sum, part) => sum + part, 0) / 1024,
	};
}

export interface Updates {
	table: string;
	updates: number;
	/** Percent of the updates that stayed on their page and touched no index. */
	hot: number;
}

/**
 * Returns statistics on updates of the two tables that devices rewrite, since the database was
 * made.
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
