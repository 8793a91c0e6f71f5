import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../agent/agent-error.ts";
import { readCredentials, storeCredentials } from "../../agent/credentials.ts";
import { once } from "../../agent/once.ts";
import { listQueue } from "../../agent/queue.ts";
import { beat, openSession } from "../../agent/session.ts";
import { readState, readStateOf, writeState } from "../../agent/state.ts";
import { makeId } from "../../src/id.ts";
import { makeEnrolledFolder, makeParts } from "./folders.ts";
import { count, eventually, queueReports, start } from "./running-agent.ts";
import {
	type Answerer,
	refuse,
	respond,
	type ScriptedService,
	startScriptedService,
} from "./scripted-service.ts";

/** Makes the stored 401s look as if they had happened `minutes` earlier. */
async function age(folder: string, minutes: number): Promise<void> {
	const state = await readState(folder);
	if (!state?.rejection) throw new Error("there was no 401");
	const earlier = (at: string) =>
		new Date(Date.parse(at) - minutes * 60_000).toISOString();
	const { since, last_at } = state.rejection;
	await writeState(folder, {
		...state,
		rejection: {
			...state.rejection,
			since: earlier(since),
			last_at: earlier(last_at),
		},
	});
}

const rejectionOf = async (folder: string) =>
	(await readState(folder))?.rejection;

/** Runs the agent until it has counted `total` 401s. */
async function runUntilCounted(folder: string, total: number): Promise<void> {
	const agent = start(folder);
	await eventually(async () => (await rejectionOf(folder))?.total === total);
	await agent.stop();
}

const reject: Answerer = (_, response) => {
	refuse(response, 401);
	return false;
};

/** Answers with a 401 that is not Assay's. */
const foreign401: Answerer = (_, response) => {
	respond(response, 401, { message: "sign in to the network" });
	return false;
};

test("the third 401 removes the key, 5 and 15 minutes after the first, and no use of the key comes between", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url, "old");
	await queueReports(folder, service.deviceId, credentials.enrollment_id, 2);
	service.answer(reject);
	await runUntilCounted(folder, 1);
	for (const [asked, minutes] of [
		[1, 4],
		[2, 1],
		[2, 9],
	] as const) {
		await age(folder, minutes);
		const agent = start(folder);
		await eventually(() => agent.logged().includes("reporting to"));
		if (asked !== (await rejectionOf(folder))?.total) {
			await eventually(
				async () => (await rejectionOf(folder))?.total === asked,
			);
		}
		await new Promise((resolve) => setTimeout(resolve, 100));
		await agent.stop();
		expect(service.seen.map(({ route }) => route)).toEqual(
			new Array(asked).fill("heartbeat"),
		);
	}
	expect(await readCredentials(folder)).toEqual(credentials);
	await age(folder, 1);
	const last = start(folder, { idleMs: 20 });
	await eventually(() => last.logged().includes("is not enrolled"));
	expect(service.seen).toHaveLength(3);
	expect(await readCredentials(folder)).toBeUndefined();
	expect(await readState(folder)).toMatchObject({
		refused_at: expect.any(String),
	});
	// The reports wait for an enrollment as the same device.
	expect(await listQueue(folder)).toHaveLength(2);
});

test("an accepted heartbeat ends the doubt, and the agent counts from the start again", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	service.answer(reject);
	await runUntilCounted(folder, 1);
	await age(folder, 5);
	await runUntilCounted(folder, 2);
	await age(folder, 10);
	service.answer(() => true);
	const agent = start(folder);
	await service.until((seen) => count(seen, "postures") === 1);
	await agent.stop();
	expect(await rejectionOf(folder)).toBeNull();
	expect(await readCredentials(folder)).toBeDefined();
});

test("a 401 to a report counts too, and the agent then asks with a heartbeat", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	service.answer(({ route }, response) => {
		if (route === "postures") refuse(response, 401);
		return route !== "postures";
	});
	await runUntilCounted(folder, 1);
	await age(folder, 5);
	const agent = start(folder);
	await service.until((seen) => count(seen, "heartbeat") === 2);
	await agent.stop();
	expect(await listQueue(folder)).toHaveLength(1);
});

test("`once` counts on the disk too: it does not use a rejected key before the agent may ask, and the third 401 removes it", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	const state = await readStateOf(folder, credentials.enrollment_id);
	const last_checks_at = new Date().toISOString();
	await writeState(folder, {
		...state,
		device_id: service.deviceId,
		last_checks_at,
	});
	await queueReports(folder, service.deviceId, credentials.enrollment_id, 1);
	service.answer(reject);
	const call = () => once({ folder, ...makeParts() });
	expect((await call()).error).toContain("rejected this device's key (1 of 3");
	expect((await call()).error).toContain("asks again at");
	expect(service.seen).toHaveLength(1);
	await age(folder, 5);
	expect((await call()).error).toContain("(2 of 3 times)");
	await age(folder, 10);
	await expect(call()).rejects.toMatchObject({ exitCode: EXIT.notEnrolled });
	expect(await readCredentials(folder)).toBeUndefined();
	expect(await listQueue(folder)).toHaveLength(1);
});

test.each([
	["the same device", 2],
	["another device", 0],
] as const)("after a new enrollment as %s, the agent sends %i of the 2 reports that waited", async (what, sent) => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url, "old");
	const device =
		what === "the same device"
			? service.deviceId
			: makeId(service.deviceId, "device");
	const waiting = await queueReports(
		folder,
		device,
		credentials.enrollment_id,
		2,
	);
	const state = await readStateOf(folder, credentials.enrollment_id);
	await writeState(folder, {
		...state,
		device_id: device,
		dropped_total: 5,
		dropped_since: "2026-11-21T12:00:00.000Z",
	});
	await storeCredentials(folder, service.url, "new");
	start(folder);
	await service.until((seen) => count(seen, "postures") === sent + 1);
	expect(service.reportIds().slice(0, sent)).toEqual(waiting.slice(0, sent));
	// The first new report tells about losses of the same device only.
	const [first] = service.seen.filter(({ route }) => route === "postures");
	const last = service.seen.findLast(({ route }) => route === "postures");
	expect(JSON.stringify(last?.body).includes("reports_dropped")).toBe(sent > 0);
	expect(first).toBeDefined();
});

test("`status` shows that the heartbeat was rejected until one is accepted", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	let isRefused = true;
	service.answer((_, response) => {
		if (isRefused) refuse(response, 400);
		return !isRefused;
	});
	const parts = makeParts();
	const beaten = async () => {
		const credentials = await readCredentials(folder);
		if (!credentials) throw new Error("not enrolled");
		await beat(await openSession(credentials, { folder, ...parts }));
		return (await readState(folder))?.trouble?.reason;
	};
	expect(await beaten()).toContain("rejected this device's heartbeat");
	isRefused = false;
	expect(await beaten()).toBeUndefined();
});

test("401s from a proxy remove the key only after they have lasted for 24 hours", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	await queueReports(folder, service.deviceId, credentials.enrollment_id, 1);
	service.answer(foreign401);
	for (const [total, minutes] of [
		[1, 5],
		[2, 10],
		[3, 30],
		[4, 30],
		[5, 24 * 60],
	] as const) {
		await runUntilCounted(folder, total);
		await age(folder, minutes);
	}
	expect(await readCredentials(folder)).toEqual(credentials);
	const agent = start(folder, { idleMs: 20 });
	await eventually(() => agent.logged().includes("is not enrolled"));
	expect(await readCredentials(folder)).toBeUndefined();
	expect(await listQueue(folder)).toHaveLength(1);
});

/** Runs the agent until the service has seen another report, and returns what waits then. */
async function waitingAfterReport(folder: string, service: ScriptedService) {
	const before = count(service.seen, "postures");
	const agent = start(folder);
	await service.until((seen) => count(seen, "postures") > before);
	await eventually(async () => (await readState(folder))?.trouble !== null);
	await agent.stop();
	return listQueue(folder);
}

test("a report that a gateway answers with 400 is kept for 24 hours and then set aside, and the next report says so", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	const [id] = await queueReports(
		folder,
		service.deviceId,
		credentials.enrollment_id,
		1,
	);
	let isBetween = true;
	service.answer(({ route }, response) => {
		if (route !== "postures" || !isBetween) return true;
		respond(response, 400, { message: "Bad Request" });
		return false;
	});
	const [first = ""] = await waitingAfterReport(folder, service);
	expect(first).toContain(id);
	const state = await readState(folder);
	expect(state?.disputed?.report_id).toBe(id);
	const since = new Date(Date.now() - 24 * 3_600_000).toISOString();
	if (state) {
		await writeState(folder, {
			...state,
			disputed: { report_id: id ?? "", since },
		});
	}
	expect(await waitingAfterReport(folder, service)).not.toContain(first);
	expect(await readdir(join(folder, "refused"))).toEqual([first]);
	expect(await readState(folder)).toMatchObject({ dropped_total: 1 });
	isBetween = false;
	// The next report that is made tells the service.
	await once({ folder, force: true, ...makeParts() });
	expect(JSON.stringify(service.seen.at(-1)?.body)).toContain(
		'"reason":"reports_dropped","dropped_reports":1',
	);
});

test("an answer that does not have the form of a heartbeat's answer does not make the device active", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	service.answer((_, response) => {
		respond(response, 200, { device_id: "x", heartbeat_interval_seconds: 0 });
		return false;
	});
	const agent = start(folder);
	await eventually(() => agent.logged().includes("is not from an Assay"));
	await agent.stop();
	expect(await readState(folder)).toMatchObject({ last_heartbeat_at: null });
});
