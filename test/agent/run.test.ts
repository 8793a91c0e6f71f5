import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listQueue } from "../../agent/queue.ts";
import { run } from "../../agent/run.ts";
import { readState, readStateOf, writeState } from "../../agent/state.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { parseId } from "../../src/id.ts";
import { makeEnrolledFolder, makeParts } from "./folders.ts";
import { count, eventually, queueReports, start } from "./running-agent.ts";
import { refuse, respond, startScriptedService } from "./scripted-service.ts";

test("the first start sends a heartbeat at once, then all checks in one report whose id belongs to the device's tenant", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	const agent = start(folder);
	await service.until((seen) => count(seen, "postures") === 1);
	await eventually(async () => (await listQueue(folder)).length === 0);
	await agent.stop();
	const [beat, postures] = service.seen;
	expect(beat?.body).toMatchObject({ platform: "LINUX" });
	const results = postures?.body?.results as Record<string, string>[];
	expect(results.map(({ check_key }) => check_key)).toEqual(CHECK_KEYS);
	const ids = new Set(results.map(({ correlation_id }) => correlation_id));
	expect(ids.size).toBe(1);
	const id = parseId([...ids][0] ?? "");
	expect(id).toMatchObject({
		kind: "device_posture_report",
		tenant: parseId(service.deviceId)?.tenant,
	});
	expect(await readState(folder)).toMatchObject({
		device_id: service.deviceId,
		trouble: null,
	});
});

test("a restart sends nothing that is not due", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	const first = start(folder);
	await service.until((seen) => count(seen, "postures") === 1);
	await eventually(async () => (await listQueue(folder)).length === 0);
	await first.stop();
	const before = service.seen.length;
	const second = start(folder);
	await eventually(() => second.logged().includes("reporting to"));
	await new Promise((resolve) => setTimeout(resolve, 300));
	await second.stop();
	expect(service.seen).toHaveLength(before);
});

test("each timer uses the interval that the answers give for it", async () => {
	const service = await startScriptedService({ heartbeat: 1, posture: 3600 });
	const { folder } = await makeEnrolledFolder(service.url);
	start(folder);
	await service.until((seen) => count(seen, "heartbeat") === 3);
	expect(count(service.seen, "postures")).toBe(1);
});

test("a device that was off sends what is due at once", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	const state = await readStateOf(folder, credentials.enrollment_id);
	const yesterday = new Date(Date.now() - 86_400_000).toISOString();
	await writeState(folder, {
		...state,
		device_id: service.deviceId,
		last_heartbeat_at: yesterday,
		last_checks_at: yesterday,
	});
	start(folder);
	await service.until((seen) => count(seen, "postures") === 1);
	expect(service.seen.map(({ route }) => route)).toEqual([
		"heartbeat",
		"postures",
	]);
});

test("no report leaves before the first heartbeat has succeeded", async () => {
	const service = await startScriptedService();
	service.answer(({ route }, response) => {
		if (route === "heartbeat") respond(response, 500);
		return route !== "heartbeat";
	});
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	await queueReports(folder, service.deviceId, credentials.enrollment_id, 1);
	const agent = start(folder);
	await eventually(() => agent.logged().includes("next attempt in 15 seconds"));
	await agent.stop();
	expect(service.seen.map(({ route }) => route)).toEqual(["heartbeat"]);
	expect(await listQueue(folder)).toHaveLength(1);
});

test("a rejected report is set aside with the reason, and the next one is sent", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	const ids = await queueReports(
		folder,
		service.deviceId,
		credentials.enrollment_id,
		3,
	);
	service.answer(({ route }, response) => {
		const isSecond = route === "postures" && service.reportIds().length === 2;
		if (isSecond) refuse(response, 400);
		return !isSecond;
	});
	const agent = start(folder);
	await service.until((seen) => count(seen, "postures") >= 4);
	expect(service.reportIds().slice(0, 3)).toEqual(ids);
	const refused = await readdir(join(folder, "refused"));
	expect(refused.map((name) => name.slice(11, 43))).toEqual([ids[1]]);
	expect(agent.logged()).toContain("results[0] is wrong");
});

test("a damaged report is set aside with a log line, and the next one is sent", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	const ids = await queueReports(
		folder,
		service.deviceId,
		credentials.enrollment_id,
		2,
	);
	const [name = ""] = await listQueue(folder);
	await writeFile(join(folder, "queue", name), '{"report_id":');
	const agent = start(folder);
	await service.until((seen) => count(seen, "postures") >= 1);
	expect(service.reportIds()[0]).toBe(ids[1]);
	expect(await readdir(join(folder, "damaged"))).toEqual([name]);
	expect(agent.logged()).toContain("is damaged");
});

test("a report that got no answer is sent again unchanged, with the same id", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	let isAway = true;
	service.answer(({ route }, response) => {
		if (route !== "postures" || !isAway) return true;
		response.socket?.destroy();
		return false;
	});
	const first = start(folder);
	await eventually(() => first.logged().includes("next attempt"));
	await first.stop();
	isAway = false;
	const attempts = count(service.seen, "postures");
	start(folder);
	await service.until((seen) => count(seen, "postures") > attempts);
	const bodies = service.seen.flatMap(({ route, body }) =>
		route === "postures" ? [JSON.stringify(body)] : [],
	);
	expect(new Set(bodies).size).toBe(1);
});

test("the next report says what was dropped, and the one after it says that nothing more was", async () => {
	const service = await startScriptedService({ posture: 1 });
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	await queueReports(folder, service.deviceId, credentials.enrollment_id, 3);
	let isAway = true;
	service.answer(({ route }, response) => {
		const isFailing = route === "postures" && isAway;
		if (isFailing) respond(response, 503);
		return !isFailing;
	});
	const agent = start(folder, {
		queueLimits: { maxReports: 2, maxBytes: 1e6 },
	});
	await eventually(() => agent.logged().includes("the queue is full"));
	// By then, the first report after the drop is in the queue.
	await eventually(
		() => (agent.logged().match(/the queue is full/g)?.length ?? 0) > 1,
	);
	isAway = false;
	await agent.stop();
	service.seen.length = 0;
	start(folder, { queueLimits: { maxReports: 2, maxBytes: 1e6 } });
	const said = () =>
		service.seen.flatMap(({ body }) =>
			((body?.results ?? []) as Record<string, unknown>[]).filter(
				({ check_key }) => check_key === "AGENT_REPORT_QUEUE",
			),
		);
	await service.until(() => said().some(({ status }) => status === "PASS"));
	expect(said()[0]).toMatchObject({
		status: "UNKNOWN",
		evidence: {
			reason: "reports_dropped",
			dropped_reports: expect.any(Number),
			since: expect.any(String),
		},
	});
	const after = count(service.seen, "postures");
	await service.until((seen) => count(seen, "postures") >= after + 2);
	expect(said().at(-1)?.status).toBe("PASS");
	expect(
		said().filter(({ status }) => status === "PASS").length,
	).toBeLessThanOrEqual(2);
});

test("a report that cannot be stored is still sent", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	// File modes do not stop root, but a missing folder does.
	await rm(join(folder, "queue"), { recursive: true });
	const agent = start(folder);
	await service.until((seen) => count(seen, "postures") === 1);
	expect(agent.logged()).toContain("cannot be stored");
});

test("two agents never use the same folder, and one that was killed does not block the next", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	// No process can have this id, because it is above the kernel's limit.
	await writeFile(
		join(folder, "run.lock"),
		JSON.stringify({ pid: 2 ** 22 + 1, token: "x" }),
	);
	const agent = start(folder);
	await service.until((seen) => seen.length > 0);
	await expect(run({ folder, ...makeParts() })).rejects.toThrow(
		"is already running",
	);
	await agent.stop();
	expect(await readdir(folder)).not.toContain("run.lock");
});

test("an agent whose folder is removed ends", async () => {
	const service = await startScriptedService({ heartbeat: 1 });
	const { folder } = await makeEnrolledFolder(service.url);
	const agent = start(folder);
	await service.until((seen) => seen.length > 0);
	// The agent may be writing into the folder at the same time.
	await rm(folder, { recursive: true, maxRetries: 5 });
	await agent.ended;
	expect(agent.logged()).toContain("are gone; the agent ends");
});

test("the log names a problem once and its end once, and contains no key and no evidence", async () => {
	const service = await startScriptedService({ heartbeat: 1 });
	const { folder } = await makeEnrolledFolder(service.url, "asy_dev_s3cret");
	let isAway = false;
	service.answer(({ headers }, response) => {
		if (isAway)
			respond(
				response,
				503,
				{
					error: "service_unavailable",
					message: `later\n${headers.authorization}`,
				},
				{ "retry-after": "0" },
			);
		return !isAway;
	});
	const agent = start(folder);
	await service.until((seen) => count(seen, "postures") === 1);
	isAway = true;
	await eventually(() => agent.logged().includes("answered 503"));
	await agent.stop();
	expect(agent.logged().match(/answered 503/g)).toHaveLength(1);
	expect(agent.logged()).toContain("later");
	expect(agent.logged()).not.toContain("s3cret");
	expect(agent.logged()).not.toContain("DISK_ENCRYPTION");
	for (const line of agent.logged().trim().split("\n")) {
		expect(line).toMatch(/^\d{4}-\S+Z (debug|info |warn |error) \S/);
	}
});
