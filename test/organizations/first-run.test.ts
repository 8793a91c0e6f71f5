import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeLogger } from "../../src/log.ts";
import { makeSetupLink } from "../../src/organizations/first-setup.ts";
import { serve } from "../../src/serve.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { runCommand } from "../support/command.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { auditEntries, makeUser } from "../support/people.ts";
import { shareService } from "../support/service.ts";

/** Starts a service in which nobody has an account. */
async function startEmpty() {
	const database = await createDatabaseForTest();
	const service = await serve(
		readConfig({
			ASSAY_PORT: "0",
			ASSAY_SECRET: "what the sessions of the tests are signed with",
			DATABASE_URL: database.url,
		}),
		makeLogger("silent"),
	);
	onTestFinished(() => service.close());
	const makeToken = async () => {
		const link = await makeSetupLink(database.pool, service.url);
		return link && new URL(link).hash.slice(1);
	};
	const send = (path: string, body?: object, cookie = "") =>
		sendTo(service.url, path, body, { cookie });
	const setUp = (fields: object) =>
		send("/api/setup", {
			organization_name: "Acme",
			name: "Ada",
			email: "Ada@example.com",
			password: PASSWORD,
			...fields,
		});
	return { database, service, makeToken, send, setUp };
}

test("the setup link creates the first admin and organization, the admin signs in, and the link works once", async () => {
	const { database, makeToken, send, setUp } = await startEmpty();
	expect((await send("/api/setup")).body).toEqual({ setup_needed: true });
	const token = await makeToken();
	const short = await setUp({ token, password: "short", name: "" });
	expect(short.status).toBe(400);
	expect(
		short.body.fields.map(({ field }: { field: string }) => field).sort(),
	).toEqual(["name", "password"]);
	const done = await setUp({ token });
	expect(done.status).toBe(200);
	expect(done.body.email).toBe("ada@example.com");
	expect((await send("/api/setup")).body).toEqual({ setup_needed: false });
	const again = await setUp({ token, email: "eve@example.com" });
	expect(again).toMatchObject({
		status: 400,
		body: { message: expect.stringContaining("already set up") },
	});
	const { cookie } = await send("/api/auth/sign-in/email", {
		email: "ada@example.com",
		password: PASSWORD,
	});
	const { body } = await send("/api/console/getProfile", {}, cookie);
	expect(body.profile).toMatchObject({
		name: "Ada",
		two_factor_enabled: false,
		organizations: [
			{ id: done.body.organization_id, name: "Acme", role: "admin" },
		],
	});
	const entries = await auditEntries(database, done.body.organization_id);
	expect(entries).toMatchObject([
		{ operation: "setUp", actor_name: "Ada", record_kind: "organization" },
		{ operation: "setUp", actor_kind: "USER", record_kind: "member" },
		{ operation: "setUp", record_kind: "people", record_name: "Ada" },
		{ operation: "signIn", outcome: "DONE" },
	]);
	expect(JSON.stringify(entries)).not.toContain("asy_");
});

test("when many callers use the setup link at once, exactly one succeeds", async () => {
	const { database, makeToken, setUp } = await startEmpty();
	const token = await makeToken();
	const answers = await Promise.all(
		Array.from({ length: 6 }, (_, n) =>
			setUp({ token, email: `user-${n}@example.com` }),
		),
	);
	expect(answers.map(({ status }) => status).sort()).toEqual([
		200,
		...Array<number>(5).fill(400),
	]);
	const { rows } = await database.owner.query(
		"select (select count(*)::integer from users) as users, (select count(*)::integer from organizations) as organizations",
	);
	expect(rows).toEqual([{ users: 1, organizations: 1 }]);
});

test("a form as a body, which is curl's default, is rejected, and the error says how to send JSON", async () => {
	const { service } = await shareService();
	const answer = await fetch(`${service.url}/api/setup`, {
		method: "POST",
		headers: {
			"content-type": "application/x-www-form-urlencoded",
			origin: service.url,
		},
		body: '{"token":"x"}',
	});
	expect(answer.status).toBe(400);
	expect(await answer.json()).toMatchObject({
		error: "bad_request",
		message: expect.stringContaining("Content-Type: application/json"),
	});
});

test("a replaced, expired or invented setup link is rejected and creates nothing", async () => {
	const { database, makeToken, setUp } = await startEmpty();
	const replaced = await makeToken();
	const token = await makeToken();
	for (const wrong of [replaced, makeSecret("set"), makeSecret("rst"), "x"]) {
		expect(await setUp({ token: wrong })).toMatchObject({
			status: 400,
			body: { error: "bad_request", message: expect.stringContaining("link") },
		});
	}
	await database.owner.query("update account_links set expires_at = now()");
	expect((await setUp({ token })).body.message).toContain("setup-link");
	const { rowCount } = await database.owner.query("select from organizations");
	expect(rowCount).toBe(0);
});

test("when there are users, no setup link is printed and an earlier one is rejected", async () => {
	const { database, makeToken, setUp } = await startEmpty();
	const token = await makeToken();
	await makeUser(database);
	expect((await setUp({ token })).status).toBe(400);
	expect(await makeToken()).toBeUndefined();
	const ended = await runCommand(["setup-link"], {
		DATABASE_URL: database.url,
	});
	expect(ended.code).toBe(1);
	expect(ended.stderr).toContain("already set up");
});

test("the command prints a working link with the service's own address", async () => {
	const { database, setUp } = await startEmpty();
	const { stdout } = await runCommand(["setup-link"], {
		DATABASE_URL: database.url,
		ASSAY_BASE_URL: "https://assay.example.com",
	});
	expect(stdout).toMatch(
		/^https:\/\/assay\.example\.com\/setup#asy_set_\w+\n$/,
	);
	const token = stdout.trim().split("#")[1];
	expect((await setUp({ token })).status).toBe(200);
});

test("a page of another site cannot read anything or set anything up", async () => {
	const { service } = await shareService();
	const origin = "https://evil.example";
	const asked = await sendTo(service.url, "/api/setup", undefined, { origin });
	expect(asked.status).toBe(403);
	const body = { token: makeSecret("set") };
	expect(
		(await sendTo(service.url, "/api/setup", body, { origin })).status,
	).toBe(403);
});
