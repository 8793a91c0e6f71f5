import { afterAll, beforeAll, expect, test } from "vitest";
import { networkOf, SignInTurns } from "../../src/load/sign-in-queue.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

let running: TestService;
beforeAll(async () => {
	running = await startService(undefined, {
		ASSAY_TRUSTED_PROXIES: "127.0.0.1",
	});
});
afterAll(() => running.close());

const signIn = (email: string, address: string) =>
	sendTo(
		running.service.url,
		"/api/auth/sign-in/email",
		{ email, password: PASSWORD },
		{ "x-forwarded-for": address },
	);

test("while one address tries 200 invented users at the same time, the service stays ready and others can sign in", async () => {
	const { email } = await makeUser(
		running.database,
		{ organizationId: running.organizationId, role: "viewer" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const crowd = Array.from({ length: 200 }, (_, number) =>
		// All these networks belong to one subscriber, who has a /56 of them.
		signIn(
			`nobody${number}@example.com`,
			`2001:db8:7:7${number.toString(16).padStart(2, "0")}::1`,
		),
	);
	// The first response may be for a sign-in that was turned away or for one that was checked.
	await Promise.race(crowd);
	const others = await Promise.all(
		["203.0.113.7", "2001:db8:7:800::1"].map((address) =>
			signIn(email, address),
		),
	);
	const ready = await fetch(`${running.service.url}/health/ready`);
	expect(ready.status).toBe(200);
	expect(others.map(({ status }) => status)).toEqual([200, 200]);
	const answers = await Promise.all(crowd);
	const refused = answers.filter(({ status }) => status === 503);
	expect(refused.length).toBeGreaterThan(0);
	for (const { body, headers } of refused) {
		expect(body.message).toContain("too many sign-ins from your address");
		expect(headers.get("retry-after")).toMatch(/^\d+$/);
	}
	expect(new Set(answers.map(({ status }) => status))).toEqual(
		new Set([401, 503]),
	);
});

test("addresses from which a user has signed in have places in the queue that strangers cannot take", async () => {
	const turns = new SignInTurns();
	const ok = async () => new Response();
	await turns.run("203.0.113.7", undefined, ok);
	const end = Promise.withResolvers<Response>();
	const crowd = Array.from({ length: 24 }, (_, number) =>
		turns.run(`198.51.100.${number}`, undefined, () => end.promise),
	);
	await expect(turns.run("198.51.100.99", undefined, ok)).rejects.toMatchObject(
		{
			code: "service_unavailable",
		},
	);
	expect((await turns.run("203.0.113.7", undefined, ok)).status).toBe(200);
	end.resolve(new Response(null, { status: 401 }));
	await Promise.all(crowd);
	expect((await turns.run("198.51.100.99", undefined, ok)).status).toBe(200);
});

test("all IPv6 addresses of one subscriber count as one address, in any notation", () => {
	for (const [address, network] of [
		["203.0.113.7", "203.0.113.7"],
		["2001:db8::1", "2001:db8:0:0::/56"],
		["2001:0DB8:0:0:1::9", "2001:db8:0:0::/56"],
		["2001:db8:1:2:3:4:5:6", "2001:db8:1:0::/56"],
		["2001:db8:1:ff::", "2001:db8:1:0::/56"],
		["2001:db8:1:1ff::", "2001:db8:1:100::/56"],
		["::1", "0:0:0:0::/56"],
		["fe80::1%eth0", "fe80:0:0:0::/56"],
		["", ""],
	] as const) {
		expect(networkOf(address), address).toBe(network);
	}
});
