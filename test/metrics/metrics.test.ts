import { readFile, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { listPostureSummary } from "../../src/devices/posture-summary.ts";
import { invoke } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import { diskFolders, readDiskSpace } from "../../src/metrics/disk-space.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { createDatabase } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { makeFolder } from "../support/folder.ts";
import { startAssay } from "../support/program.ts";
import {
	heartbeatBody,
	postureResult,
	startService,
	type TestService,
} from "../support/service.ts";
import { countChecksNow } from "../support/upkeep.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).reverse()) await close();
});

async function startMeasured(): Promise<TestService> {
	const assay = await startService(undefined, { ASSAY_METRICS_PORT: "0" });
	closing.push(assay.close);
	return assay;
}

/** Returns the samples by their name with labels, as Prometheus reads them. */
async function scrape(url: string | undefined): Promise<Map<string, number>> {
	const answer = await fetch(url ?? "no metrics");
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
	const samples = new Map<string, number>();
	for (const line of (await answer.text()).split("\n")) {
		if (line === "" || line.startsWith("#")) continue;
		const end = line.lastIndexOf(" ");
		samples.set(line.slice(0, end), Number(line.slice(end + 1)));
	}
	return samples;
}

const requests = (door: string, route: string, status: number) =>
	`assay_http_requests_total{door="${door}",route="${route}",status="${status}"}`;

test("each request is counted once by door, route and status, with its duration", async () => {
	const assay = await startMeasured();
	const device = await assay.activateDevice();
	await assay.post("heartbeat", "{", { key: device.key });
	await assay.post("postures", { results: [] }, { key: "asy_dev_wrong" });
	await fetch(`${assay.service.url}/api/mcp/tools/listRisks`);
	await fetch(`${assay.service.url}/health/live?probe=1`);

	const samples = await scrape(assay.service.metricsUrl);
	expect(samples.get(requests("agent", "enroll", 200))).toBe(1);
	expect(samples.get(requests("agent", "heartbeat", 200))).toBe(1);
	expect(samples.get(requests("agent", "heartbeat", 400))).toBe(1);
	expect(samples.get(requests("agent", "postures", 401))).toBe(1);
	expect(samples.get(requests("tools", "listRisks", 401))).toBe(1);
	expect(samples.get(requests("health", "health", 200))).toBe(1);
	expect(
		samples.get(
			'assay_http_request_duration_seconds_count{door="agent",route="heartbeat"}',
		),
	).toBe(2);
	expect(samples.get('assay_batch_rows_total{queue="first_heartbeats"}')).toBe(
		1,
	);
	expect(samples.get('assay_queue_rows{queue="postures"}')).toBe(0);
	expect(
		samples.get('assay_db_connections{pool="app",state="idle"}'),
	).toBeGreaterThan(0);
});

test("addresses that callers invent do not create new series", async () => {
	const assay = await startMeasured();
	for (const path of ["api/mcp/tools/", "api/console/", "api/agent/v1/", ""]) {
		for (let n = 0; n < 5; n++) {
			await fetch(`${assay.service.url}/${path}made-up-${n}`);
		}
	}
	const samples = await scrape(assay.service.metricsUrl);
	const series = [...samples.keys()].filter((name) =>
		name.startsWith("assay_http_requests_total"),
	);
	expect(series.filter((name) => name.includes("made-up"))).toEqual([]);
	expect(series.length).toBeLessThan(8);
});

test("devices of all organizations are counted in the same way as in the posture summary", async () => {
	const assay = await startMeasured();
	await assay.activateDevice();
	await assay.enrollDevice();
	const stale = await assay.activateDevice();
	const missing = await assay.activateDevice();
	const age = (id: string, time: string) =>
		assay.database.owner.query(
			"update devices set last_seen_at = now() - $2::interval where id = $1",
			[id, time],
		);
	await age(stale.id, "1 day");
	await age(missing.id, "8 days");
	const silent = await assay.activateDevice();
	await assay.database.owner.query(
		"update devices set activated_at = now() - interval '3 hours' where id = any($1)",
		[[silent.id, stale.id]],
	);

	const samples = await scrape(assay.service.metricsUrl);
	const counted = (status: string, freshness: string) =>
		samples.get(`assay_devices{status="${status}",freshness="${freshness}"}`);
	const { pool } = assay.database;
	const summary = await invoke(
		{ pool, log: makeLogger("silent"), baseUrl: "http://localhost" },
		systemPrincipal(assay.organizationId),
		listPostureSummary,
		{ organization_id: assay.organizationId },
	);
	expect(summary.devices_by_freshness).toEqual({
		ONLINE: counted("ACTIVE", "ONLINE"),
		STALE: counted("ACTIVE", "STALE"),
		MISSING: counted("ACTIVE", "MISSING"),
		NEVER: counted("PENDING", "NEVER"),
	});
	expect(counted("ACTIVE", "STALE")).toBe(1);
	expect(counted("PENDING", "NEVER")).toBe(1);
	expect(summary.not_reporting).toBe(1);
	expect(samples.get("assay_devices_not_reporting")).toBe(1);
});

test("device states are counted by check and state, and checks of agents' own share a label", async () => {
	const assay = await startMeasured();
	const { pool, owner } = assay.database;
	const { key } = await assay.activateDevice();
	for (const check_key of ["SCREEN_LOCK", "OWN_ONE", "OWN_TWO"]) {
		await assay.post(
			"postures",
			{ results: [postureResult({ check_key })] },
			{ key },
		);
		await owner.query(
			"insert into device_check_rules (organization_id, check_key, is_required, platforms, grace_days, new_device_grace_days, valid_from) values ($1, $2, true, '{LINUX,DARWIN,WINDOWS,FREEBSD}', 3, 7, now())",
			[assay.organizationId, check_key],
		);
	}
	await countChecksNow(pool, assay.organizationId);
	const samples = await scrape(assay.service.metricsUrl);
	const counted = (check: string, state: string) =>
		samples.get(`assay_device_check_states{check="${check}",state="${state}"}`);
	expect(counted("SCREEN_LOCK", "PASSING")).toBe(1);
	expect(counted("SCREEN_LOCK", "EXCEPTED")).toBe(0);
	expect(counted("DISK_ENCRYPTION", "NOT_REPORTED")).toBe(1);
	expect(counted("other", "PASSING")).toBe(2);
	expect(counted("OWN_ONE", "PASSING")).toBeUndefined();
	expect(samples.get('assay_devices_by_compliance{compliance="UNKNOWN"}')).toBe(
		1,
	);
	expect(
		samples.get('assay_devices_by_compliance{compliance="COMPLIANT"}'),
	).toBe(0);
});

test("a status and freshness that no device has is reported as 0, so that an alert notices when the last device disappears", async () => {
	const assay = await startMeasured();
	const device = await assay.activateDevice();
	await assay.database.owner.query(
		"update devices set last_seen_at = now() - interval '1 day' where id = $1",
		[device.id],
	);
	const samples = await scrape(assay.service.metricsUrl);
	const counts = [...samples].filter(([name]) =>
		name.startsWith("assay_devices{"),
	);
	expect(counts).toHaveLength(12);
	expect(samples.get('assay_enrollment_keys{running_out="yes"}')).toBe(0);
	expect(samples.get("assay_enrollment_keys_ended")).toBe(0);
	expect(samples.get("assay_devices_awaiting_approval")).toBe(0);
	expect(Object.fromEntries(counts)).toMatchObject({
		'assay_devices{status="ACTIVE",freshness="ONLINE"}': 0,
		'assay_devices{status="ACTIVE",freshness="STALE"}': 1,
		'assay_devices{status="ACTIVE",freshness="MISSING"}': 0,
	});
});

test("what is not known yet has no value, because 0 would mean a broken audit log", async () => {
	const assay = await startMeasured();
	const samples = await scrape(assay.service.metricsUrl);
	expect(samples.has("assay_last_backup_audit_logs_sound")).toBe(false);
	expect(samples.get("assay_replicas")).toBe(0);
});

/** Returns the parts of the metrics by whether they could not be read. */
const unread = (samples: Map<string, number>) =>
	Object.fromEntries(
		[...samples]
			.filter(([name]) => name.startsWith("assay_metrics_unread"))
			.map(([name, value]) => [name.split('"')[1], value]),
	);

test("a part that cannot be read says so, and takes no other value away", async () => {
	const assay = await startMeasured();
	const rename = (from: string, to: string) =>
		assay.database.owner.query(`alter function ${from}() rename to ${to}`);
	await rename("read_last_backup", "read_nothing");
	const without = await scrape(assay.service.metricsUrl);
	const { backup, ...others } = unread(without);
	expect(backup).toBe(1);
	expect(Object.keys(others)).toContain("mails");
	expect(new Set(Object.values(others))).toEqual(new Set([0]));
	expect(without.has("assay_has_organizations")).toBe(false);
	expect(without.has("assay_last_backup_timestamp_seconds")).toBe(false);
	expect(without.get('assay_mails{state="queued"}')).toBe(0);
	expect(without.get("assay_database_answers")).toBe(1);

	await rename("read_nothing", "read_last_backup");
	const again = await scrape(assay.service.metricsUrl);
	expect(unread(again)).toEqual({ ...others, backup: 0 });
	expect(again.get("assay_has_organizations")).toBe(1);
	await assay.database.owner.query("truncate organizations cascade");
	const empty = await scrape(assay.service.metricsUrl);
	expect(empty.get("assay_has_organizations")).toBe(0);
});

test("while the database hangs or takes no new connections, the metrics say so, and what the service itself knows", async () => {
	const database = await createDatabase();
	const proxy = await openDatabaseProxy(database.url);
	const service = await startAssay({
		DATABASE_URL: proxy.url,
		ASSAY_METRICS_PORT: "0",
	});
	closing.push(() => database.drop());
	closing.push(() => service.stop("SIGTERM"));
	await fetch(`${service.url}/api/mcp/tools/listRisks`);
	const before = await scrape(service.metricsUrl);
	expect(before.get("assay_database_answers")).toBe(1);
	expect(before.get('assay_mails{state="queued"}')).toBe(0);
	proxy.hang();
	const during = await scrape(service.metricsUrl);
	expect(during.get("assay_database_answers")).toBe(0);
	expect(during.get(requests("tools", "listRisks", 401))).toBe(1);
	expect(during.has('assay_mails{state="queued"}')).toBe(false);
	expect(unread(during)).toEqual({});
	const restore = async () => {
		await proxy.cut();
		await proxy.restore();
		await expect
			.poll(async () => {
				const after = await scrape(service.metricsUrl);
				return [after.get("assay_database_answers"), unread(after).mails];
			})
			.toEqual([1, 0]);
	};
	await restore();

	const isReady = async () =>
		(await fetch(`${service.url}/health/ready`)).status === 200;
	await expect.poll(isReady).toBe(true);
	proxy.hangNew();
	// The old connections still work.
	const without = await scrape(service.metricsUrl);
	expect(await isReady()).toBe(true);
	expect(without.get("assay_database_answers")).toBe(0);
	await restore();
});

test("the free space of the disks that Assay fills is known, and that of a database elsewhere is not", async () => {
	const folder = await makeFolder("assay-archive-");
	const assay = await startService(undefined, {
		ASSAY_METRICS_PORT: "0",
		ASSAY_ARCHIVE_URL: folder,
	});
	closing.push(assay.close);
	const samples = await scrape(assay.service.metricsUrl);
	const { bavail, blocks, bsize } = await statfs(folder);
	expect(bavail).toBeGreaterThan(0);
	const free = samples.get('assay_disk_free_bytes{of="archive"}') ?? 0;
	expect(free).toBeGreaterThan(0);
	expect(free).toBeLessThanOrEqual(blocks * bsize);
	expect(samples.has('assay_disk_free_bytes{of="database"}')).toBe(false);

	const folders = diskFolders(readConfig({ ASSAY_DATA_DIR: folder }));
	expect(await readDiskSpace(folders)).toContainEqual({
		of: "database",
		folder,
		freeBytes: expect.any(Number),
		disk: (await stat(folder)).dev,
	});
});

test("the public port does not serve the metrics, and the metrics port serves nothing else", async () => {
	const assay = await startMeasured();
	const open = await fetch(`${assay.service.url}/metrics`);
	expect(await open.text()).not.toContain("assay_");
	const url = new URL(assay.service.metricsUrl ?? "");
	expect((await fetch(new URL("/health/live", url))).status).toBe(404);
	expect((await fetch(url, { method: "POST" })).status).toBe(405);
});

test("the metrics listen on ASSAY_METRICS_HOST, whatever ASSAY_HOST is, and on the loopback address by default", async () => {
	for (const [settings, host] of [
		[{ ASSAY_HOST: "0.0.0.0" }, "127.0.0.1"],
		[{ ASSAY_METRICS_HOST: "127.0.0.2" }, "127.0.0.2"],
	] as const) {
		const assay = await startService(undefined, {
			ASSAY_METRICS_PORT: "0",
			...settings,
		});
		expect(new URL(assay.service.metricsUrl ?? "").hostname).toBe(host);
		await assay.close();
	}
});

test("without ASSAY_METRICS_PORT there are no metrics, and a port that is in use stops the start with an error that names it", async () => {
	const plain = await startService();
	closing.push(plain.close);
	expect(plain.service.metricsUrl).toBeUndefined();
	const { port } = new URL(plain.service.url);
	await expect(
		startService(undefined, { ASSAY_METRICS_PORT: port }),
	).rejects.toThrow(/ASSAY_METRICS_PORT/);
});

test("one address returns the sum of all workers", async () => {
	const database = await createDatabase();
	closing.push(() => database.drop());
	const service = await startAssay(
		{ DATABASE_URL: database.url, ASSAY_METRICS_PORT: "0" },
		{ workers: 2 },
	);
	closing.push(() => service.stop("SIGTERM"));
	for (let n = 0; n < 20; n++) {
		await fetch(`${service.url}/api/agent/v1/heartbeat`, {
			method: "POST",
			body: JSON.stringify(heartbeatBody()),
			// Each request opens a new connection, and the workers take the connections in turn.
			headers: { connection: "close" },
		});
	}
	const samples = await scrape(service.metricsUrl);
	expect(samples.get(requests("agent", "heartbeat", 401))).toBe(20);
	expect(
		[...samples].find(([name]) => name.startsWith("assay_info"))?.[1],
	).toBe(1);
});

test("the alert rules and the dashboard use only existing metrics, and docs/watching.md explains each metric", async () => {
	const assay = await startMeasured();
	await assay.activateDevice();
	// Some have no value here, such as those of replicas, but each has a type.
	const answer = await fetch(assay.service.metricsUrl ?? "no metrics");
	const types = [...(await answer.text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)];
	// promtool complains about a name that says "counter" and is not one.
	for (const [, name, type] of types) {
		expect(name?.endsWith("_total"), name).toBe(type === "counter");
	}
	const known = new Set(
		types.flatMap(([, name = "", type]) =>
			type === "histogram"
				? [`${name}_bucket`, `${name}_sum`, `${name}_count`]
				: [name],
		),
	);
	for (const file of ["prometheus/alerts.yml", "grafana/assay.json"]) {
		const text = await readFile(
			join(import.meta.dirname, "../../deploy", file),
			"utf8",
		);
		const named = new Set(text.match(/\b(assay|process|nodejs)_[a-z_]+/g));
		expect(named.size).toBeGreaterThan(3);
		expect([...named].filter((name) => !known.has(name))).toEqual([]);
	}

	const page = await readFile(
		join(import.meta.dirname, "../../docs/watching.md"),
		"utf8",
	);
	const explained = new Set(page.match(/\bassay_[a-z_]+/g));
	const own = [...known]
		.filter((name) => name.startsWith("assay_"))
		.map((name) => name.replace(/_(bucket|sum|count)$/, ""));
	expect([...explained].sort()).toEqual([...new Set(own)].sort());
});
