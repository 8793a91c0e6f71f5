import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { asUser, chooseOsUser } from "../src/db/postgres-binaries.ts";
import { freePort } from "./own-service.ts";

export type PoolMode = "session" | "transaction" | "statement";

const START_TIMEOUT_MS = 20_000;
/** Connections from the pooler to the database, for all of Assay. Assay itself opens at most 20. */
export const POOL_SIZE = 30;

const running = new Set<ChildProcess>();
process.on("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});

export interface OwnPooler {
	/** The address of the database through the pooler. */
	url: string;
	stop: () => Promise<void>;
}

/**
 * Starts Debian's PgBouncer in front of the database at `databaseUrl`. All settings except those
 * given here keep their default.
 */
export async function startPooler(
	folder: string,
	databaseUrl: string,
	mode: PoolMode,
): Promise<OwnPooler> {
	const port = await freePort();
	const database = new URL(databaseUrl);
	const own = join(folder, `pooler-${mode}`);
	const user = chooseOsUser(own);
	mkdirSync(own);
	const ini = join(own, "pgbouncer.ini");
	writeFileSync(
		ini,
		`[databases]
assay = host=${database.searchParams.get("host")} port=${database.port} dbname=assay user=${database.username} password=${database.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${POOL_SIZE}
logfile = ${join(own, "log")}
`,
	);
	if (user) for (const path of [own, ini]) chownSync(path, user.uid, user.gid);
	const child = spawn("pgbouncer", ["-q", ini], {
		...asUser(user),
		stdio: ["ignore", "ignore", "inherit"],
	});
	running.add(child);
	const exited = once(child, "exit").finally(() => running.delete(child));
	exited.catch(() => {});
	const url = `postgres://assay@127.0.0.1:${port}/assay`;
	await untilItAnswers(url, child);
	return {
		url,
		stop: async () => {
			child.kill("SIGKILL");
			await exited;
		},
	};
}

async function untilItAnswers(url: string, child: ChildProcess): Promise<void> {
	for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(50)) {
		const client = new Client({ connectionString: url });
		client.on("error", () => {});
		try {
			await client.connect();
			await client.end();
			return;
		} catch (error) {
			await client.end().catch(() => {});
			if (child.exitCode !== null || Date.now() > deadline) {
				throw new Error(
					"pgbouncer does not answer; is it installed (apt-get install pgbouncer)?",
					{ cause: error },
				);
			}
		}
	}
}
