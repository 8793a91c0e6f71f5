import { expect, test } from "vitest";
import { readCredentials, storeCredentials } from "../../agent/credentials.ts";
import { listQueue } from "../../agent/queue.ts";
import { beat, openSession } from "../../agent/session.ts";
import { readState } from "../../agent/state.ts";
import { makeEnrolledFolder, makeParts } from "./folders.ts";
import { count, eventually, queueReports, start } from "./running-agent.ts";
import { refuse, respond, startScriptedService } from "./scripted-service.ts";

test("an agent whose key is rejected removes the key and its queue, keeps running, and continues after the next enrollment", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url, "old");
	await queueReports(folder, service.deviceId, credentials.enrollment_id, 2);
	service.answer(({ headers }, response) => {
		const isOld = headers.authorization === "Bearer old";
		if (isOld) refuse(response, 401);
		return !isOld;
	});
	const agent = start(folder, { idleMs: 20 });
	await eventually(async () => (await readCredentials(folder)) === undefined);
	await eventually(() => agent.logged().includes("is not enrolled"));
	expect(await listQueue(folder)).toEqual([]);
	expect(await readState(folder)).toMatchObject({
		refused_at: expect.any(String),
	});
	expect(service.seen).toHaveLength(1);
	await storeCredentials(folder, service.url, "new");
	await service.until((seen) => count(seen, "postures") === 1);
	expect(agent.logged().match(/is not enrolled/g)).toHaveLength(1);
});

test("status shows that the heartbeat was rejected until one is accepted", async () => {
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

test("a 401 to a report removes an active device's key", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	service.answer(({ route }, response) => {
		if (route === "postures") refuse(response, 401);
		return route !== "postures";
	});
	start(folder);
	await eventually(async () => (await readCredentials(folder)) === undefined);
	await eventually(async () => (await listQueue(folder)).length === 0);
});

test("after a 401 from a proxy the agent keeps its key and its queue", async () => {
	const service = await startScriptedService();
	const { folder, credentials } = await makeEnrolledFolder(service.url);
	await queueReports(folder, service.deviceId, credentials.enrollment_id, 1);
	service.answer((_, response) => {
		respond(response, 401, { message: "sign in to the network" });
		return false;
	});
	const agent = start(folder);
	await eventually(() => agent.logged().includes("not from an Assay service"));
	await agent.stop();
	expect(await readCredentials(folder)).toEqual(credentials);
	expect(await listQueue(folder)).toHaveLength(1);
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
