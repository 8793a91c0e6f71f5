import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { AppError } from "../errors.ts";
import type { Cluster } from "./postgres-cluster.ts";
import { SOCKET_PORT } from "./postmaster.ts";

const CONNECT_TIMEOUT_MS = 60_000;
const RETRY_MS = 500;
/**
 * Application name that marks a user of the server. Each Assay process keeps one connection with
 * this name open for as long as it uses the server.
 */
const PRESENCE = "assay presence";

/** Returns the options with which `pg` connects to the cluster's database `assay`. */
export function connectionOf({ directory, port, password }: Cluster) {
	return {
		host: port ? "127.0.0.1" : directory,
		port: port || SOCKET_PORT,
		user: "assay",
		password,
		database: "assay",
	};
}

interface ConnectOptions {
	/** The application name of the connection. */
	name?: string;
	timeLimitFactor?: number | undefined;
}

/**
 * Waits until the server accepts connections, and then returns a connection. Returns undefined when
 * `isAlive` reports that the server has gone. The connection leads to the database `postgres`, so
 * that the database `assay` can be dropped and restored meanwhile. Throws a service_unavailable
 * AppError after a minute times `timeLimitFactor`, or when the password is wrong.
 */
export async function connect(
	cluster: Cluster,
	isAlive: () => boolean,
	{ name = PRESENCE, timeLimitFactor = 1 }: ConnectOptions = {},
): Promise<Client | undefined> {
	const deadline = Date.now() + CONNECT_TIMEOUT_MS * timeLimitFactor;
	for (;;) {
		const client = new Client({
			...connectionOf(cluster),
			database: "postgres",
			application_name: name,
			connectionTimeoutMillis: 10_000,
		});
		// The server may die at any time, and then the running query fails with the error. Without a
		// listener, this event would end the process.
		client.on("error", () => {});
		try {
			await client.connect();
			return client;
		} catch (error) {
			await client.end().catch(() => {});
			const { code, message } = error as Error & { code?: string };
			// An error of class 28 means that the password is wrong. Every other error is temporary: the
			// server is starting, stopping, recovering, or out of connections.
			const lost = code?.startsWith("28") || Date.now() > deadline;
			if (lost) {
				throw new AppError(
					"service_unavailable",
					`PostgreSQL runs in ${cluster.directory} but accepts no connection: ${message}`,
					{ cause: error },
				);
			}
			if (!isAlive()) return undefined;
		}
		await sleep(20);
	}
}

/**
 * Returns true when somebody else uses the server: another Assay process, or another call of
 * openEmbeddedPostgres in this process.
 */
export async function hasOtherUsers(client: Client): Promise<boolean> {
	const count = () =>
		client.query(
			"select 1 from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()",
			[PRESENCE],
		);
	if ((await count()).rowCount === 0) return false;
	// After a process was killed, the server needs a moment to notice it.
	await sleep(100);
	return (await count()).rowCount !== 0;
}

/**
 * Holds the connection by which other processes see that this process uses the server. When the
 * connection ends, `enter` must open another one. A crash of one backend ends all connections
 * although the server keeps running. If this process did not connect again, another process could
 * stop the server while this one uses it.
 */
export class EmbeddedUser {
	#held: Client | undefined;
	#isReleased = false;
	readonly #enter: () => Promise<void>;

	constructor(enter: () => Promise<void>) {
		this.#enter = enter;
	}

	get isReleased(): boolean {
		return this.#isReleased;
	}

	hold(client: Client): void {
		this.#held = client;
		client.once("end", () => {
			this.#held = undefined;
			this.#retry();
		});
	}

	/**
	 * Stops reconnecting and returns the connection, if there is one at this moment. The caller must
	 * end the connection.
	 */
	release(): Client | undefined {
		this.#isReleased = true;
		return this.#held;
	}

	#retry(): void {
		setTimeout(() => {
			if (!this.#isReleased) this.#enter().catch(() => this.#retry());
		}, RETRY_MS);
	}
}
