import { resolve } from "node:path";
import { Client } from "pg";
import type { Config } from "../config/config.ts";
import { connectionOf } from "../db/embedded-users.ts";
import { readCluster } from "../db/postgres-cluster.ts";
import { findPostmaster } from "../db/postmaster.ts";
import { codeOf } from "../db/sqlstate.ts";
import type { Finding } from "./doctor.ts";

const ANSWER_MS = 5_000;
const STARTING = "57P03";

/**
 * Reports an embedded server that runs and does not answer. Returns undefined if it answers or does
 * not run. Waits for no lock, because the service may hold it while it waits for the server itself.
 */
export async function examineSilence(
	config: Config,
): Promise<Finding | undefined> {
	if (config.databaseUrl) return undefined;
	const cluster = readCluster(resolve(config.dataDir));
	const pid = cluster && findPostmaster(cluster.directory);
	if (!cluster || pid === undefined) return undefined;
	const error = await failureOf(
		new Client({
			...connectionOf(cluster),
			database: "postgres",
			connectionTimeoutMillis: ANSWER_MS,
			query_timeout: ANSWER_MS,
		}),
	);
	const check = "database";
	const server = `the embedded PostgreSQL (pid ${pid}) in ${cluster.directory}`;
	const code = codeOf(error);
	if (code === STARTING) {
		return {
			check,
			status: "warning",
			found: `${server} is starting or stopping: ${(error as Error).message}`,
			advice: `wait; after a crash it reads its log again, and the newest file in ${cluster.directory}/log says how far it is`,
		};
	}
	// Any other answer is an answer, and opening the database says what to do about it.
	if (error === undefined || code !== undefined) return undefined;
	return {
		check,
		status: "problem",
		found: `${server} runs, but does not answer within ${ANSWER_MS / 1000} s`,
		advice: `\`grep State /proc/${pid}/status\` says why: with T somebody has stopped it, and \`systemctl kill --signal=CONT assay\` lets all processes of the service go on (without systemd, \`kill -CONT ${pid}\`); with D it waits for a disk (dmesg); otherwise look at the processor (systemd-cgtop), and restart the service (systemctl restart assay, which ends PostgreSQL after 90 s at the latest)`,
	};
}

/** Returns the error of connecting and asking, or undefined. */
async function failureOf(client: Client): Promise<unknown> {
	client.on("error", () => {});
	try {
		await client.connect();
		await client.query("select 1");
		return undefined;
	} catch (error) {
		return error;
	} finally {
		// Saying goodbye could take as long again.
		client.end().catch(() => {});
	}
}
