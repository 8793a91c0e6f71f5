import { afterAll, beforeAll, expect, test } from "vitest";
import { addEnrollmentKey } from "../../src/devices/enrollment-key-operations.ts";
import { makeId } from "../../src/id.ts";
import { invoke } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import { readReceiverCounts } from "../../src/metrics/receivers.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { makeKey } from "../support/certificate.ts";
import { runCommand } from "../support/command.ts";
import { makeUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { examine } from "./run-doctor.ts";

let running: TestService;
beforeAll(async () => {
	running = await startService();
});
afterAll(() => running.close());

test.each([
	["postgres://nobody:x@HOST/none", "correct the user or the password"],
	["postgres://nobody:x@localhost:1/none", "start PostgreSQL, or correct"],
	["postgres://nobody:x@no.invalid/none", "correct the name of the host"],
])("doctor and other commands say what is wrong with %s", async (url, advice) => {
	const database = new URL(running.database.url);
	const settings = {
		DATABASE_URL: url.replace(
			"HOST/none",
			`${database.host}/none${database.search}`,
		),
	};
	const { of, code } = await examine(running, settings);
	expect(of("database")).toMatchObject({
		status: "problem",
		advice: expect.stringContaining(advice),
	});
	expect(code).toBe(1);
	const { stderr } = await runCommand(["org", "list"], settings);
	expect(stderr).toContain(advice);
	expect(stderr).not.toContain("retry later");
});

test("doctor counts the accounts that are proven only because they are old, and names five", async () => {
	const { database } = running;
	expect((await examine(running)).of("accounts")).toEqual({
		check: "accounts",
		status: "ok",
		found: "no account is trusted without a proven e-mail address",
	});
	await database.owner.query(
		`insert into users (id, name, email, address_proof)
		select repeat(n::text, 32), 'Old', 'old-' || n || '@example.com', 'ASSUMED'
		from generate_series(1, 6) n`,
	);
	await makeUser(database, undefined, { email: "a-new-one@example.com" });
	expect((await examine(running)).of("accounts")).toEqual({
		check: "accounts",
		status: "ok",
		found:
			"6 accounts are older than the check that proves an e-mail address, and are trusted without it: old-1@example.com, old-2@example.com, old-3@example.com, old-4@example.com, old-5@example.com …",
		advice: expect.stringContaining("`npx assay user list --assumed` lists"),
	});
	const { stdout } = await runCommand(["user", "list", "--assumed", "--json"], {
		DATABASE_URL: database.url,
	});
	expect(JSON.parse(stdout).users).toMatchObject(
		[1, 2, 3, 4, 5, 6].map((n) => ({ email: `old-${n}@example.com` })),
	);
});

test("doctor and the metrics count webhooks and chats that fail or are disabled", async () => {
	const { database, organizationId } = running;
	expect((await examine(running)).of("webhooks and chats")).toMatchObject({
		status: "ok",
	});
	const webhook = (enabled: boolean) =>
		database.owner.query(
			`insert into webhooks (organization_id, id, url, event_types, is_enabled, failing_since, given_up_at)
			values ($1, $2, 'https://example.com', '{posture.failed}', $3, now(), case when not $3 then now() end)`,
			[organizationId, makeId(organizationId, "webhook"), enabled],
		);
	const chat = (enabled: boolean, fails: boolean) =>
		database.owner.query(
			`insert into notification_channels
				(organization_id, id, kind, name, sealed_address, address_host, is_enabled, failing_since)
			values ($1, $2, 'SLACK', 'x', 'x', 'example.com', $3, case when $4 then now() end)`,
			[
				organizationId,
				makeId(organizationId, "notification_channel"),
				enabled,
				fails,
			],
		);
	await webhook(true);
	await webhook(true);
	await webhook(false);
	await chat(false, true);
	// An administrator has switched this one off.
	await chat(false, false);
	expect((await examine(running)).of("webhooks and chats")).toMatchObject({
		status: "warning",
		found:
			"2 webhooks fail, 1 webhook was disabled after 3 days of failures, 1 chat was disabled after 3 days of failures",
	});
	const counts = await readReceiverCounts(database.pool);
	expect(counts).toEqual([
		{ kind: "webhook", failing: 2, disabled: 1 },
		{ kind: "chat", failing: 0, disabled: 1 },
	]);
	await database.owner.query("delete from webhooks");
	await database.owner.query("delete from notification_channels");
});

test("doctor warns of a SAML provider whose last certificate ends within 30 days", async () => {
	const check = "certificates of SAML providers";
	const { database, organizationId } = running;
	expect((await examine(running)).of(check)).toBeUndefined();
	const id = makeId(organizationId, "identity_provider");
	const set = (certificates: string[]) =>
		database.owner.query(
			`insert into identity_providers
				(organization_id, id, kind, name, issuer, sign_in_url, certificates, is_enabled, tested_at)
			values ($1, $2, 'SAML', 'x', 'x', 'https://example.com', $3, true, now())
			on conflict (organization_id, id) do update set certificates = $3`,
			[organizationId, id, certificates],
		);
	const ending = makeKey({ days: 29 }).certificate;
	await set([ending]);
	const found = (await examine(running)).of(check);
	expect(found?.status).toBe("warning");
	expect(found?.found).toContain(id);
	await set([ending, makeKey({ days: 31 }).certificate]);
	expect((await examine(running)).of(check)?.status).toBe("ok");
	await database.owner.query("delete from identity_providers");
});

test("doctor warns of an enrollment key that is used up soon, or ended in the last 14 days", async () => {
	expect((await examine(running)).of("enrollment keys")?.status).toBe("ok");
	const { pool } = running.database;
	const { organizationId } = running;
	await invoke(
		{ pool, log: makeLogger("silent"), baseUrl: "http://localhost" },
		systemPrincipal(organizationId),
		addEnrollmentKey,
		{
			organization_id: organizationId,
			name: "Interns",
			max_devices: 2,
			expires_in_days: 2,
		},
	);
	expect((await examine(running)).of("enrollment keys")?.status).toBe("ok");
	const change = (what: string) =>
		running.database.owner.query(`update enrollment_keys set ${what}`);
	await change("used = 1");
	expect((await examine(running)).of("enrollment keys")).toMatchObject({
		status: "warning",
		found: expect.stringMatching(
			new RegExp(
				`^the key "Interns" of .+ \\(${organizationId}\\) expires on \\d{4}-\\d\\d-\\d\\d, with 1 of 2 devices left$`,
			),
		),
		advice: expect.stringContaining(
			`assay enrollment-key list --org ${organizationId}`,
		),
	});
	const ended = (how: string) => ({
		status: "warning",
		found: expect.stringMatching(`the key "Interns" of .+ ${how}`),
	});
	await change("used = 2, last_used_at = now()");
	expect((await examine(running)).of("enrollment keys")).toMatchObject(
		ended("is used up by 2 devices"),
	);
	await change(
		"used = 0, last_used_at = null, expires_at = now() - interval '13 days'",
	);
	expect((await examine(running)).of("enrollment keys")).toMatchObject(
		ended("expired on "),
	);
	await change("expires_at = now() - interval '15 days'");
	expect((await examine(running)).of("enrollment keys")?.status).toBe("ok");
	await change("revoked_at = now()");
});

test("doctor finds a missing index, a setting that loses data and reports outside their months, and says what to do", async () => {
	const { owner } = running.database;
	await owner.query(`
		drop index api_tokens_user;
		create table posture_reports_2020_01 partition of posture_reports
			for values from ('2020-01-01T00:00:00Z') to ('2020-02-01T00:00:00Z');
		do $$ begin
			execute format('alter database %I set synchronous_commit = off', current_database());
		end $$`);
	const { code, of, others } = await examine(running);
	expect(of("indexes")).toMatchObject({
		status: "problem",
		found: "missing or invalid: api_tokens_user",
		advice: expect.stringContaining("sql/schema.sql"),
	});
	expect(of("replication")).toMatchObject({
		status: "problem",
		found: "synchronous_commit is off",
	});
	expect(of("retention")).toMatchObject({
		status: "warning",
		found: "raw reports of 1 old month are still there",
	});
	expect(of("packing")).toMatchObject({
		status: "warning",
		found: expect.stringMatching(
			/^the raw reports of 2020-01 are not packed completely/,
		),
	});
	expect(
		others("indexes", "packing", "replication", "retention", "separation"),
	).toEqual([]);
	expect(code).toBe(1);
});

test("doctor says since when old rows are not removed, and that the clock may be ahead", async () => {
	const { owner } = running.database;
	const change = (done: string) =>
		owner.query(`update last_retention set done_at = ${done}`);
	await change("now() - interval '25 hours'");
	expect((await examine(running)).of("retention")?.found).not.toContain("ago");
	await change("now() - interval '60 hours'");
	expect((await examine(running)).of("retention")).toMatchObject({
		status: "warning",
		found: expect.stringContaining(
			"the daily removal of old rows was last complete 2 days ago",
		),
		advice: expect.stringContaining('"old rows"'),
	});
	await change("now() - interval '30 days'");
	expect((await examine(running)).of("clock")).toMatchObject({
		status: "warning",
		found:
			"the clock of the database is 30 days ahead of the last complete removal of old rows",
		advice: expect.stringContaining("correct it within an hour"),
	});
	await change("now()");
});
