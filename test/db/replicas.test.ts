import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnPostgres } from "../../bench/own-postgres.ts";
import { readReplicas } from "../../src/db/replicas.ts";
import { runCommand } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
import { startMadePostgres } from "../support/made-data.ts";
import { startAssay } from "../support/program.ts";
import { startStandby } from "../support/standby.ts";

let folder: string;
let primary: OwnPostgres;
let standby: OwnPostgres;
let owner: Client;

beforeAll(async () => {
	folder = await makeFolder("assay-replicas-");
	primary = await startMadePostgres(join(folder, "primary"));
	standby = await startStandby(primary, join(folder, "standby"), "db2");
	owner = await primary.connect();
});

afterAll(async () => {
	await owner?.end();
	await standby?.stop();
	await primary?.stop();
	await rm(folder, { recursive: true, force: true });
});

async function findReplication(url = primary.url, name = "replication") {
	const { stdout } = await runCommand(["doctor", "--json"], {
		DATABASE_URL: url,
	});
	const { findings } = JSON.parse(stdout) as {
		findings: { check: string; status: string; found: string }[];
	};
	return findings.find(({ check }) => check === name);
}

async function readMetrics(url: string | undefined): Promise<string[]> {
	const answer = await fetch(url ?? "no metrics");
	const lines = (await answer.text()).split("\n");
	return lines.filter((line) => line.startsWith("assay_replica"));
}

test("a replica is shown with how far it is behind", async () => {
	await expect
		.poll(() => readReplicas(owner))
		.toEqual([
			{
				name: "db2",
				state: "streaming",
				isSynchronous: false,
				behindBytes: 0,
				behindSeconds: 0,
			},
		]);
	expect(await findReplication()).toMatchObject({
		status: "ok",
		found: expect.stringContaining("1 standby streams from this server"),
	});

	const paused = await standby.connect();
	await paused.query("select pg_wal_replay_pause()");
	await owner.query(
		"create table padding as select n, repeat('x', 100) as x from generate_series(1, 1000) n",
	);
	const [late] = await readReplicas(owner);
	expect(late?.behindBytes).toBeGreaterThan(100_000);
	expect(late?.behindSeconds).not.toBeNull();
	await paused.query("select pg_wal_replay_resume()");
	await paused.end();
});

test("metrics show the replica", async () => {
	const service = await startAssay({
		DATABASE_URL: primary.url,
		ASSAY_METRICS_PORT: "0",
	});
	await expect
		.poll(() => readMetrics(service.metricsUrl))
		.toEqual([
			"assay_replicas 1",
			'assay_replica_behind_bytes{replica="db2"} 0',
			'assay_replica_behind_seconds{replica="db2"} 0',
		]);
	await service.stop("SIGTERM");
});

test("a replication slot that nobody reads is shown with the log that it keeps", async () => {
	expect(await findReplication(primary.url, "replication slots")).toBe(
		undefined,
	);
	await owner.query("select pg_create_physical_replication_slot('db3', true)");
	await owner.query(
		"create table more as select n, repeat('x', 100) as x from generate_series(1, 10000) n",
	);
	const service = await startAssay({
		DATABASE_URL: primary.url,
		ASSAY_METRICS_PORT: "0",
	});
	try {
		expect(
			await findReplication(primary.url, "replication slots"),
		).toMatchObject({
			status: "warning",
			found: expect.stringMatching(
				/^nobody reads from db3, which keeps [1-9][\d.]* MB/,
			),
			advice: expect.stringContaining("pg_drop_replication_slot"),
		});
		const lines = await readMetrics(service.metricsUrl);
		const kept = lines.find((line) =>
			line.startsWith(
				'assay_replication_slot_kept_bytes{slot="db3",active="no"}',
			),
		);
		expect(Number(kept?.split(" ").at(-1))).toBeGreaterThan(1_000_000);
	} finally {
		await service.stop("SIGTERM");
		await owner.query("select pg_drop_replication_slot('db3')");
	}
});

test("a login that may not see replicas learns how many there are and which right it lacks", async () => {
	await owner.query(
		"create role humble; grant create on schema public to humble; alter function read_replicas() owner to humble",
	);
	try {
		expect(await readReplicas(owner)).toMatchObject([
			{ name: "db2", state: null, behindBytes: null, behindSeconds: null },
		]);
		expect(await findReplication()).toMatchObject({
			status: "warning",
			found: expect.stringContaining("hides from the login how far it is"),
			advice: expect.stringContaining("grant pg_monitor to assay"),
		});
		await owner.query("grant pg_monitor to humble");
		expect(await readReplicas(owner)).toMatchObject([{ state: "streaming" }]);
	} finally {
		await owner.query(
			"alter function read_replicas() owner to assay; revoke create on schema public from humble; drop role humble",
		);
	}
});

test("doctor says that a standby is no place for the service", async () => {
	expect(await findReplication(standby.url)).toMatchObject({
		status: "problem",
		found: "the server is a standby, which is read-only",
	});
});
