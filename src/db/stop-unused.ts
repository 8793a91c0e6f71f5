/**
 * A program that runs beside the embedded server and stops the server when nobody uses it. Its
 * first argument is Assay's data folder. Its second argument is the number of milliseconds that the
 * server may be unused. Assay processes normally stop the server themselves when they leave it.
 * This program does it for processes that were killed. Every connection counts as use, so a backup
 * by PostgreSQL's own tools keeps the server running.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { connect } from "./embedded-users.ts";
import { type Cluster, readCluster } from "./postgres-cluster.ts";
import { findPostmaster, stopPostmaster } from "./postmaster.ts";
import { withStartLock } from "./start-lock.ts";

const CHECKS_BEFORE_STOP = 6;
/**
 * Advisory lock that ensures that only one program of this kind watches a server. It is a lock of the
 * database `postgres`, so the locks of advisory-locks.ts do not meet it.
 */
const KEEPER_LOCK = 4_723_121;

async function isFirst(client: Client): Promise<boolean> {
	const { rows } = await client.query<{ first: boolean }>(
		"select pg_try_advisory_lock($1) as first",
		[KEEPER_LOCK],
	);
	return rows[0]?.first === true;
}

async function isUsed(client: Client): Promise<boolean> {
	const { rowCount } = await client.query(
		"select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1",
	);
	return rowCount !== 0;
}

/** Resolves when it has stopped the server. Rejects when the connection is lost. */
async function watch(
	cluster: Cluster,
	client: Client,
	idleMs: number,
): Promise<void> {
	const lost = new AbortController();
	client.once("end", () => lost.abort());
	let unused = 0;
	let isStopped = false;
	while (!isStopped) {
		await sleep(idleMs / CHECKS_BEFORE_STOP, undefined, {
			signal: lost.signal,
		});
		unused = (await isUsed(client)) ? 0 : unused + 1;
		if (unused < CHECKS_BEFORE_STOP) continue;
		// No other process can begin to use the server while this process holds the lock.
		isStopped = await withStartLock(cluster.folder, async () => {
			if (await isUsed(client)) return false;
			await stopPostmaster(cluster.directory);
			return true;
		});
	}
}

async function stopWhenUnused(folder: string, idleMs: number): Promise<void> {
	const cluster = readCluster(folder);
	const pid = cluster && findPostmaster(cluster.directory);
	if (!cluster || pid === undefined) return;
	const isRunning = () => findPostmaster(cluster.directory) === pid;
	while (isRunning()) {
		const client = await connect(cluster, isRunning, {
			name: "assay unused",
		});
		if (!client) return;
		try {
			if (!(await isFirst(client))) return;
			await watch(cluster, client, idleMs);
		} catch {
			// The server stopped, or a crash of one backend ended all connections.
		} finally {
			await client.end().catch(() => {});
		}
	}
}

const [, , folder = "", idleMs] = process.argv;
await stopWhenUnused(folder, Number(idleMs));
