import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { AppError } from "../errors.ts";
import type { Cluster } from "./postgres-cluster.ts";
import { SOCKET_PORT } from "./postmaster.ts";

const CONNECT_TIMEOUT_MS = 60_000;
const RETRY_MS = 500;
/** Each Assay process holds one connection of this name for as long as it uses the server. */
const PRESENCE = "assay presence";

/** Returns what `pg` needs to connect to the cluster's database `assay`. */
export function connectionOf({ directory, port, password }: Cluster) {
	return {
		host: port ? "127.0.0.1" : directory,
		port: port || SOCKET_PORT,
		user: "assay",
		password,
		database: "assay",
	};
}

/**
 * Connects as soon as the server accepts connections; undefined when `isAlive` says that it has
 * gone. The connection leads to the database `postgres`, so that `assay` can be dropped and
 * restored meanwhile. Throws a service_unavailable AppError after a minute, or when the password is
 * wrong.
 */
export async function connect(
	cluster: Cluster,
	isAlive: () => boolean,
	name: string = PRESENCE,
): Promise<Client | undefined> {
	const deadline = Date.now() + CONNECT_TIMEOUT_MS;
	for (;;) {
		const client = new Client({
			...connectionOf(cluster),
			database: "postgres",
			application_name: name,
			connectionTimeoutMillis: 10_000,
		});
		// The server may die at any time. The running query then receives the error.
		client.on("error", () => {});
		try {
			await client.connect();
			return client;
		} catch (error) {
			await client.end().catch(() => {});
			const { code, message } = error as Error & { code?: string };
			// Class 28 means a wrong password. Every other error passes: the server is starting,
			// stopping, recovering or full.
			const lost = code?.startsWith("28") || Date.now() > deadline;
			if (lost) {
				throw new AppError(
					"service_unavailable",
					`PostgreSQL runs in ${cluster.directory} but takes no connection: ${message}`,
					{ cause: error },
				);
			}
			if (!isAlive()) return undefined;
		}
		await sleep(20);
	}
}

/** True when another Assay process, or another opening in this process, uses the server. */
export async function hasOtherUsers(client: Client): Promise<boolean> {
	const count = () =>
		client.query(
			"select 1 from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()",
			[PRESENCE],
		);
	if ((await count()).rowCount === 0) return false;
	// The server needs a moment to notice that a process was killed.
	await sleep(100);
	return (await count()).rowCount !== 0;
}

/**
 * Holds the connection that other processes count. When the server ends it, `enter` has to open
 * another: a crash of one backend ends all connections although the server goes on, and a process
 * without its connection would see the server stopped while it is in use.
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
	 * Gives up the connection and returns it, if there is one at this moment. The caller must end it.
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
