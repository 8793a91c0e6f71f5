import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { connectionOf } from "../src/db/embedded-users.ts";
import {
	chooseOsUser,
	locateBinaries,
	type OsUser,
	type PostgresBinaries,
} from "../src/db/postgres-binaries.ts";
import {
	type Cluster,
	createCluster,
	openDataFolder,
	planCluster,
	readCluster,
} from "../src/db/postgres-cluster.ts";
import {
	clearStaleLocks,
	findPostmaster,
	SOCKET_PORT,
	startPostmaster,
	stopPostmaster,
} from "../src/db/postmaster.ts";

const START_TIMEOUT_MS = 60_000;

/**
 * A PostgreSQL that only the benchmark starts and stops. For the service it is like a server on
 * another machine: after a fault, only the benchmark starts it again.
 */
export class OwnPostgres {
	readonly #cluster: Cluster;
	readonly #binaries: PostgresBinaries;
	readonly #user: OsUser;

	private constructor(
		cluster: Cluster,
		binaries: PostgresBinaries,
		user: OsUser,
	) {
		this.#cluster = cluster;
		this.#binaries = binaries;
		this.#user = user;
	}

	/** Creates a cluster in `folder` and starts it. Creates the folder if it does not exist. */
	static async create(folder: string): Promise<OwnPostgres> {
		const cluster = planCluster(openDataFolder(folder), folder);
		const user = chooseOsUser(cluster.directory);
		const binaries = await locateBinaries(user, "/var/lib/assay");
		await createCluster(cluster, binaries, user);
		const made = new OwnPostgres(cluster, binaries, user);
		await made.start();
		const client = await made.connect("postgres");
		await client.query("create database assay");
		await client.end();
		return made;
	}

	/** Starts the cluster of a data folder of Assay that no server uses. */
	static async open(folder: string): Promise<OwnPostgres> {
		const cluster = readCluster(openDataFolder(folder));
		if (!cluster) throw new Error(`there is no database in ${folder}`);
		const user = chooseOsUser(cluster.directory);
		const binaries = await locateBinaries(user, "/var/lib/assay");
		const opened = new OwnPostgres({ ...cluster, port: 0 }, binaries, user);
		await opened.start();
		return opened;
	}

	/** Starts a copy of a cluster's files that lies in `directory`, such as a standby. */
	static async startCopy(
		original: OwnPostgres,
		directory: string,
	): Promise<OwnPostgres> {
		const cluster = { ...original.#cluster, directory };
		const copy = new OwnPostgres(cluster, original.#binaries, original.#user);
		await copy.start();
		return copy;
	}

	get url(): string {
		const { host, port, user, password } = connectionOf(this.#cluster);
		const url = new URL(`postgres://localhost:${port}/assay`);
		url.username = user;
		url.password = password;
		url.searchParams.set("host", host);
		return url.href;
	}

	/** The folder with PostgreSQL's own files. */
	get directory(): string {
		return this.#cluster.directory;
	}

	/** The Unix socket on which PostgreSQL listens. */
	get socket(): string {
		return join(this.#cluster.directory, `.s.PGSQL.${SOCKET_PORT}`);
	}

	get pid(): number | undefined {
		return findPostmaster(this.#cluster.directory);
	}

	/** Connects as the owner. Row-level security does not apply to the owner. */
	async connect(database = "assay"): Promise<Client> {
		const client = new Client({ ...connectionOf(this.#cluster), database });
		client.on("error", () => {});
		await client.connect();
		return client;
	}

	/**
	 * Starts PostgreSQL. Resolves when it accepts connections. Retries, because a server that was
	 * just killed may still be ending.
	 */
	async start(): Promise<void> {
		const { directory } = this.#cluster;
		const deadline = Date.now() + START_TIMEOUT_MS;
		let last: unknown = "it did not answer";
		while (Date.now() < deadline) {
			clearStaleLocks(directory);
			const server = startPostmaster(this.#binaries, directory, this.#user, 0);
			while (!server.hasExited() && Date.now() < deadline) {
				try {
					await (await this.connect("postgres")).end();
					return;
				} catch (error) {
					last = error;
					await sleep(20);
				}
			}
			await sleep(200);
		}
		throw new Error(`PostgreSQL did not start in ${directory}: ${last}`);
	}

	stop(): Promise<void> {
		return stopPostmaster(this.#cluster.directory);
	}

	/** Kills the main process and all its children with kill -9, which is like a loss of power. */
	async kill(): Promise<void> {
		const { pid } = this;
		if (pid === undefined) return;
		for (const each of [pid, ...childrenOf(pid)]) {
			try {
				process.kill(each, "SIGKILL");
			} catch {
				// The process ended by itself just before.
			}
		}
		while (findPostmaster(this.#cluster.directory) === pid) await sleep(10);
	}
}

function childrenOf(parent: number): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((name) => {
			try {
				const stat = readFileSync(`/proc/${name}/stat`, "utf8");
				const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
				return Number(fields[1]) === parent;
			} catch {
				return false;
			}
		})
		.map(Number);
}
