import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { auditEntries, makeApiToken, makeUser } from "../support/people.ts";
import {
	shareService,
	startService,
	type TestService,
} from "../support/service.ts";

let behind: TestService;
let direct: TestService;
beforeAll(async () => {
	[behind, direct] = await Promise.all([
		startService(undefined, { ASSAY_TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8" }),
		shareService(),
	]);
});
afterAll(() => Promise.all([behind.close(), direct.close()]));

/**
 * Returns the address that the audit log contains for a call with this header, made with a token or
 * a session.
 */
async function addressOf(
	{ database, organizationId, service }: TestService,
	forwarded: string | undefined,
	by: "token" | "session",
): Promise<unknown> {
	const headers: Record<string, string> =
		forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
	const user = await makeUser(
		database,
		{ organizationId, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	if (by === "token") {
		const { token } = await makeApiToken(database, user);
		const answer = await fetch(`${service.url}/api/mcp/tools/addFramework`, {
			method: "POST",
			body: JSON.stringify({ organization_id: organizationId, name: "ISO" }),
			headers: { authorization: `Bearer ${token}`, ...headers },
		});
		expect(answer.status).toBe(200);
	} else {
		const credentials = { email: user.email, password: PASSWORD };
		const path = "/api/auth/sign-in/email";
		await sendTo(service.url, path, credentials, headers);
	}
	return (await auditEntries(database, organizationId)).at(-1)?.address;
}

test("behind trusted proxies, the address is the last one that is not a proxy, and a header from the client does not count", async () => {
	for (const [forwarded, address] of [
		["203.0.113.7", "203.0.113.7"],
		["6.6.6.6, 203.0.113.7", "203.0.113.7"],
		["6.6.6.6, 203.0.113.7, 10.1.2.3", "203.0.113.7"],
		["[2001:db8::1]:4711", "2001:db8::1"],
		["203.0.113.7:4711, ::ffff:10.1.2.3", "203.0.113.7"],
		["<script>", "127.0.0.1"],
		["", "127.0.0.1"],
		[undefined, "127.0.0.1"],
	] as const) {
		expect(await addressOf(behind, forwarded, "token"), forwarded).toBe(
			address,
		);
	}
	expect(await addressOf(behind, "6.6.6.6, 203.0.113.7", "session")).toBe(
		"203.0.113.7",
	);
});

test("without trusted proxies, nobody can pretend to have another address", async () => {
	for (const by of ["token", "session"] as const) {
		expect(await addressOf(direct, "6.6.6.6", by)).toBe("127.0.0.1");
	}
});

test("a malformed address or range stops the start, and the error names it", () => {
	for (const wrong of [
		"proxy.example.com",
		"10.0.0.0/33",
		"10.0.0.0/8/8",
		"10.0.0.0/",
	]) {
		expect(() =>
			readConfig({ ASSAY_TRUSTED_PROXIES: `127.0.0.1,${wrong}` }),
		).toThrow(`"${wrong}" is neither`);
	}
});
