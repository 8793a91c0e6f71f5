import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";

const POLL_MS = 250;
/** Pause if nothing says who holds the lock, for example a prepared transaction. */
const UNKNOWN_MS = 5_000;

/** A transaction of another program that holds a lock. */
interface Blocker {
	/** PostgreSQL's id of the transaction. */
	id: string;
	pid: number;
	program: string;
}

const BLOCKERS = `select distinct l.virtualtransaction as id, l.pid,
	coalesce(nullif(a.application_name, ''), 'another program') as program
from pg_locks l join pg_stat_activity a on a.pid = l.pid`;

/**
 * In a subquery, because PostgreSQL would otherwise call the function for each lock of the server. It
 * stops all changes of locks for a moment.
 */
const BLOCKS = "l.pid = any(array(select unnest(pg_blocking_pids($1))))";

/**
 * Notes for which transactions a session waits, so that the session can give up its locks and wait
 * for their end without holding anything. Asks with a connection of its own, because a session that
 * waits cannot ask. The connection is opened when it is needed.
 */
export class LockWatch {
	readonly #connection: ClientConfig;
	readonly #watched: Client;
	#client: Client | undefined;
	#blockers: Blocker[] = [];

	constructor(connection: ClientConfig, watched: Client) {
		this.#connection = connection;
		this.#watched = watched;
	}

	/** Runs `work`, which queries on the watched session. */
	async during<Result>(work: () => Promise<Result>): Promise<Result> {
		const { rows } = await this.#watched.query<{ pid: number }>(
			"select pg_backend_pid() as pid",
		);
		this.#blockers = [];
		const ended = new AbortController();
		const watching = this.#watch(rows[0]?.pid ?? 0, ended.signal);
		try {
			return await work();
		} finally {
			ended.abort();
			await watching;
		}
	}

	async #watch(pid: number, ended: AbortSignal): Promise<void> {
		const hasPassed = () =>
			sleep(POLL_MS, true, { signal: ended, ref: false }).catch(() => false);
		while (await hasPassed()) {
			const found = await this.#find(BLOCKS, pid);
			if (found.length > 0) this.#blockers = found;
		}
	}

	/**
	 * Waits until the transactions for which the session waited last have ended. Gives their
	 * description to `tell` first.
	 */
	async blockersEnd(tell: (blockers: string) => void): Promise<void> {
		const ids = this.#blockers.map(({ id }) => id);
		let left = this.#blockers;
		if (left.length === 0) {
			tell("a lock of another program");
			await sleep(UNKNOWN_MS);
		}
		while (left.length > 0) {
			tell(
				left.map(({ program, pid }) => `${program} (pid ${pid})`).join(", "),
			);
			await sleep(POLL_MS);
			left = await this.#find("l.virtualtransaction = any($1)", ids);
		}
	}

	/**
	 * Returns nothing if the database does not answer. The watched session then fails with the reason.
	 */
	async #find(condition: string, value: unknown): Promise<Blocker[]> {
		try {
			this.#client ??= await this.#open();
			const { rows } = await this.#client.query<Blocker>(
				`${BLOCKERS} where ${condition} order by l.pid`,
				[value],
			);
			return rows;
		} catch {
			await this.close();
			return [];
		}
	}

	async #open(): Promise<Client> {
		const client = new Client({
			...this.#connection,
			application_name: "assay migrate watch",
			connectionTimeoutMillis: 10_000,
			query_timeout: 10_000,
		});
		// The connection may be lost between two queries. Without a listener, this event would then end
		// the process.
		client.on("error", () => {});
		await client.connect();
		return client;
	}

	async close(): Promise<void> {
		const client = this.#client;
		this.#client = undefined;
		await client?.end().catch(() => {});
	}
}
