import { afterAll, beforeAll, expect, test } from "vitest";
import { fuzz } from "../../bench/fuzz/run.ts";
import { fuzzSocket } from "../../bench/fuzz/socket.ts";
import type { Target } from "../../bench/fuzz/target.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { makeApiToken } from "../support/people.ts";

/**
 * This file runs a small part of `npm run bench:fuzz`. The fixed seed makes the cases the same in
 * every run.
 */
const SEED = 27;
const CASES = 700;
const BYTE_STRINGS = 150;

let running: TestConsole;
let admin: Session;
let target: Target;
beforeAll(async () => {
	running = await startConsole();
	const { organizationId, database } = running;
	admin = await running.signIn("admin");
	const tokens: string[] = [];
	for (const role of ["admin", "member", "viewer"] as const) {
		const { user } = role === "admin" ? admin : await running.signIn(role);
		tokens.push((await makeApiToken(database, user)).token);
	}
	const devices = await running.activateDevices(40);
	target = {
		url: running.service.url,
		organizationId,
		ids: devices.map(({ id }) => id),
		keys: devices.map(({ key }) => key),
		tokens,
		cookie: admin.cookie,
	};
});
afterAll(() => running.close());

test("every request at every door is answered, never with 5xx", async () => {
	const options = { cases: CASES, seed: SEED, parallel: 8 };
	const { failures, cases, doors } = await fuzz(target, options);
	expect(failures).toEqual([]);
	expect(cases).toBe(CASES);
	// Without this check, a service that rejects everything would pass too.
	for (const door of ["agent", "mcp", "http", "console", "query"]) {
		expect(doors[door]?.statuses[200] ?? 0, door).toBeGreaterThan(0);
	}
});

test("no bytes are answered with 5xx, and the service continues", async () => {
	const { url, keys } = target;
	const port = Number(new URL(url).port);
	const options = { cases: BYTE_STRINGS, seed: SEED };
	const result = await fuzzSocket(port, keys, options);
	expect(result.failures).toEqual([]);
	expect(result.cases).toBe(BYTE_STRINGS);
	expect((await fetch(`${url}/health/ready`)).status).toBe(200);
});
