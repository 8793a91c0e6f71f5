import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { setMaintenance } from "../../src/load/maintenance.ts";
import { sendTo } from "../support/console-client.ts";
import { startConsole, type TestConsole } from "../support/console-session.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";
import { until } from "../support/until.ts";

const WORDS = "We move to a new server until 14:00 UTC.";
const REFUSAL = `Assay is in maintenance: ${WORDS}`;

let served: TestConsole;
let url: string;
beforeAll(async () => {
	served = await startConsole({ ASSAY_OAUTH: "on" });
	({ url } = served.service);
});
afterAll(() => served.close());

/** Begins or ends maintenance as the command does, and waits until the service notices. */
async function set(message: string | null): Promise<void> {
	await setMaintenance(served.database.pool, message);
	await until("the service notices", async () => {
		served.service.wake();
		const { status } = await fetch(`${url}/api/auth/get-session`);
		return (status === 403) === (message !== null);
	});
}
afterEach(() => set(null));

test("devices get 503 with Retry-After, keep their keys, and go on afterwards", async () => {
	const device = await served.activateDevice();
	const { token } = await served.makeToken();
	const own = { key: device.key };
	const heartbeat = () =>
		served.post(
			"heartbeat",
			heartbeatBody({ hardware_uuid: device.hardwareUuid }),
			own,
		);
	await set(WORDS);
	for (const answer of [
		await heartbeat(),
		await served.post("postures", { results: [postureResult()] }, own),
		await served.post("enroll", { token }),
		await served.post("unenroll", "", own),
		await served.post("heartbeat", heartbeatBody(), { key: "unknown" }),
	]) {
		expect(answer.status).toBe(503);
		expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
		expect(await answer.json()).toEqual({
			error: "service_unavailable",
			message: REFUSAL,
		});
	}
	await set(null);
	expect((await heartbeat()).status).toBe(200);
	expect((await served.post("enroll", { token })).status).toBe(200);
});

test("every address of the console and of other programs answers 403 with the message", async () => {
	const { cookie } = await served.signIn("admin");
	await set(WORDS);
	const routes = served.service.routes.filter(({ path }) =>
		path.startsWith("/api/"),
	);
	expect(routes.length).toBeGreaterThan(10);
	for (const { methods, path } of routes) {
		for (const method of methods) {
			const address = path.replace(/:\w+/g, "x").replace("*", "x");
			const answer = await fetch(url + address, {
				method,
				headers: { cookie, "content-type": "application/json" },
				...(method === "POST" && { body: "{}" }),
			});
			expect(`${method} ${address} ${answer.status}`).toBe(
				`${method} ${address} 403`,
			);
			expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
			if (method === "HEAD") continue;
			expect(await answer.json()).toMatchObject({
				error: "forbidden",
				message: REFUSAL,
			});
		}
	}
});

test("an address that is written in another way is refused too", async () => {
	const { cookie } = await served.signIn("admin");
	await set(WORDS);
	const { status, body } = await sendTo(
		url,
		"/%61pi/console/listOrganizations",
		{},
		{ cookie },
	);
	expect([status, body.message]).toEqual([403, REFUSAL]);
});

test("programs with a token get 403, as JSON-RPC where they speak it", async () => {
	const { use } = await served.signIn("admin");
	const { token } = await use("createApiToken", { name: "laptop" });
	const headers = { authorization: `Bearer ${token}` };
	await set(WORDS);
	const plain = await fetch(`${url}/api/mcp/tools/listOrganizations`, {
		method: "POST",
		headers,
		body: "{}",
	});
	expect(plain.status).toBe(403);
	expect(await plain.json()).toEqual({ error: "forbidden", message: REFUSAL });
	const mcp = await fetch(`${url}/api/mcp/v1`, {
		method: "POST",
		headers: {
			...headers,
			"content-type": "application/json",
			accept: "application/json, text/event-stream",
		},
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
	});
	expect(mcp.status).toBe(403);
	expect(Number(mcp.headers.get("retry-after"))).toBeGreaterThan(0);
	expect(await mcp.json()).toMatchObject({
		jsonrpc: "2.0",
		id: null,
		error: { message: REFUSAL },
	});
});

test("a connected program keeps its grant, because its token is not refused but must wait", async () => {
	await set(WORDS);
	const answer = await fetch(`${url}/oauth/token`, {
		method: "POST",
		body: new URLSearchParams({ grant_type: "refresh_token" }),
	});
	expect(answer.status).toBe(503);
	expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("the health checks and the pages of the console answer as usual", async () => {
	await set(WORDS);
	for (const path of ["/health/live", "/health/ready"]) {
		expect((await fetch(url + path)).status).toBe(200);
	}
});

test("the message can be changed while maintenance lasts", async () => {
	await set(WORDS);
	await setMaintenance(served.database.pool, "It takes until 16:00 UTC.");
	await until("the new message", async () => {
		served.service.wake();
		const answer = await fetch(`${url}/api/auth/get-session`);
		const { message } = (await answer.json()) as { message: string };
		return message === "Assay is in maintenance: It takes until 16:00 UTC.";
	});
});
