import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTimeSynchronization } from "../../src/cli/doctor-clock.ts";
import { describeDisk } from "../../src/cli/doctor-disk.ts";
import { describeFailure } from "../../src/cli/doctor-public-name.ts";
import { describeMails } from "../../src/cli/doctor-sign-in.ts";
import { addEnrollmentKey } from "../../src/devices/enrollment-key-operations.ts";
import { makeId } from "../../src/id.ts";
import { invoke } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import { readReceiverCounts } from "../../src/metrics/receivers.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { CERTIFICATE, PRIVATE_KEY } from "../agent/certificate.ts";
import { makeKey } from "../support/certificate.ts";
import { runCommand } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
import { makeUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

interface Finding {
	check: string;
	status: string;
	found: string;
	advice?: string;
}

/** The secret that `startService` gives to the service. */
const SECRET = "what the sessions of the tests are signed with";

let running: TestService;
beforeAll(async () => {
	running = await startService(undefined, { ASSAY_METRICS_PORT: "0" });
});
afterAll(() => running.close());

/** Runs the real command. Returns its findings by check, and its exit code. */
async function examine(settings: Record<string, string> = {}) {
	const { stdout, code } = await runCommand(["doctor", "--json"], {
		DATABASE_URL: running.database.url,
		ASSAY_SECRET: SECRET,
		ASSAY_BASE_URL: running.service.url,
		ASSAY_PORT: new URL(running.service.url).port,
		...settings,
	});
	const { findings } = JSON.parse(stdout) as { findings: Finding[] };
	return {
		code,
		of: (check: string) => findings.find((one) => one.check === check),
		others: (...checks: string[]) =>
			findings.filter(
				({ check, status }) =>
					status !== "ok" &&
					// It depends on the machine of the test.
					check !== "time synchronization" &&
					!checks.includes(check),
			),
	};
}

test("doctor finds the metrics on their port and names the configured traces", async () => {
	const { port } = new URL(running.service.metricsUrl ?? "");
	const { code, of, others } = await examine({
		ASSAY_METRICS_PORT: port,
		OTEL_TRACES_EXPORTER: "otlp",
	});
	expect(of("metrics")?.status).toBe("ok");
	expect(of("traces")?.found).toContain("http/protobuf");
	// The databases of the tests are copies of one, so they share roles.
	expect(others("separation")).toEqual([]);
	expect(code).toBe(0);
});

test("doctor requests the public address and tells this installation from another one and from anything else", async () => {
	const { service } = running;
	const here = await examine();
	expect(here.of("public address")).toMatchObject({
		status: "ok",
		found: expect.stringContaining("not from another network"),
	});
	const other = await examine({ ASSAY_SECRET: "another secret".repeat(3) });
	expect(other.of("public address")).toMatchObject({
		status: "problem",
		found: `${service.url} leads to another installation of Assay`,
	});
	let status = 404;
	const server = createServer((_request, response) => {
		response.writeHead(status).end("something else");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const settings = { ASSAY_BASE_URL: `http://127.0.0.1:${port}` };
	expect((await examine(settings)).of("public address")).toMatchObject({
		status: "problem",
		found: `http://127.0.0.1:${port} answers with 404, and not as Assay does`,
		advice: expect.stringContaining("let the proxy pass every path"),
	});
	status = 502;
	expect((await examine(settings)).of("public address")).toMatchObject({
		status: "problem",
		advice: expect.stringContaining("the proxy does not reach the service"),
	});
	await new Promise((resolve) => server.close(resolve));
	expect((await examine(settings)).of("public address")).toMatchObject({
		status: "warning",
		found: expect.stringContaining("does not answer"),
	});
});

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
	const { of, code } = await examine(settings);
	expect(of("database")).toMatchObject({
		status: "problem",
		advice: expect.stringContaining(advice),
	});
	expect(code).toBe(1);
	const { stderr } = await runCommand(["org", "list"], settings);
	expect(stderr).toContain(advice);
	expect(stderr).not.toContain("retry later");
});

test("a certificate that agents would refuse is a problem, and doctor says what to do", async () => {
	const server = createSecureServer(
		{ cert: CERTIFICATE, key: PRIVATE_KEY },
		(_request, response) => void response.end(),
	);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	try {
		const { of, code } = await examine({
			ASSAY_BASE_URL: `https://localhost:${port}`,
		});
		expect(code).toBe(1);
		expect(of("public address")).toMatchObject({
			status: "problem",
			found: expect.stringMatching(
				/an authority that this machine does not know .* no reports arrive/,
			),
			advice: expect.stringContaining("set NODE_EXTRA_CA_CERTS to a file"),
		});
		expect(of("public address")?.found).not.toContain("use-system-ca");
	} finally {
		server.close();
	}
});

test("a certificate for another name is a problem too, and a service that is stopped is not", () => {
	const failed = (code: string, message: string) =>
		Object.assign(new TypeError("fetch failed"), {
			cause: Object.assign(new Error(message), { code }),
		});
	const url = "https://assay.example.com";
	const other = "Host: assay.example.com. is not in the cert's altnames";
	expect(
		describeFailure(url, failed("ERR_TLS_CERT_ALTNAME_INVALID", other)),
	).toMatchObject({
		status: "problem",
		found: expect.stringContaining(other),
		advice: expect.stringContaining("correct ASSAY_BASE_URL"),
	});
	expect(
		describeFailure(url, failed("ECONNREFUSED", "connect ECONNREFUSED")),
	).toMatchObject({ status: "warning" });
});

test.each([
	["NTPSynchronized=yes\n", false, "ok", undefined],
	["NTPSynchronized=no\n", false, "warning", "timedatectl set-ntp true"],
	["NTPSynchronized=no\n", true, "ok", undefined],
	[undefined, false, "ok", undefined],
])("doctor judges the time synchronization %j, in a container %j, as %s", (answer, isInContainer, status, advice) => {
	const found = describeTimeSynchronization(answer, isInContainer);
	expect(found.status).toBe(status);
	expect(found.advice ?? "").toContain(advice ?? "");
});

test("doctor warns about mails only if one was given up", () => {
	expect(describeMails({ failed: 0, retrying: 1 })).toEqual({
		check: "mails",
		status: "ok",
		found:
			"no mail of the last two days was given up; waiting for another attempt: 1",
	});
	expect(describeMails({ failed: 1, retrying: 0 }).status).toBe("warning");
});

test("doctor reports a disk with less than 1 GB free, with advice for what fills it", () => {
	const disk = { folder: "/var/lib/x", disk: 1 };
	expect(describeDisk({ ...disk, of: "database", freeBytes: 2e9 })).toEqual({
		check: "disk",
		status: "ok",
		found: "2.0 GB free for /var/lib/x",
	});
	expect(
		describeDisk({ ...disk, of: "backups", freeBytes: 1e8 }),
	).toMatchObject({
		check: "disk of the backups",
		status: "problem",
		advice: expect.stringContaining("copy old backups to another machine"),
	});
});

test("doctor names a package of the agent whose checksum differs", async () => {
	const folder = await makeFolder("assay-packages-");
	const file = "assay-agent-1.4.0-x64.msi";
	await writeFile(join(folder, file), "the package");
	const listed = {
		file,
		platform: "WINDOWS",
		architecture: "x64",
		format: "msi",
		bytes: 11,
		sha256: "0".repeat(64),
	};
	await writeFile(
		join(folder, "packages.json"),
		JSON.stringify({ version: "1.4.0", is_signed: false, packages: [listed] }),
	);
	const { code, of } = await examine({ ASSAY_AGENT_DIR: folder });
	expect(code).toBe(1);
	expect(of("packages of the agent")).toMatchObject({
		status: "problem",
		found: expect.stringContaining(
			`${file} does not have the SHA-256`,
		) as string,
	});
});

test("doctor distinguishes another program on the metrics port from no program", async () => {
	const server = createServer((_request, response) => {
		response.end("something else");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const settings = { ASSAY_METRICS_PORT: String(port) };
	const taken = await examine(settings);
	expect(taken.of("metrics")?.status).toBe("problem");
	expect(taken.code).toBe(1);
	await new Promise((resolve) => server.close(resolve));
	const none = await examine({
		...settings,
		OTEL_TRACES_EXPORTER: "otlp",
		OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
	});
	expect(none.of("metrics")?.status).toBe("warning");
	expect(none.of("traces")?.status).toBe("warning");
	expect(none.code).toBe(0);
});

/** Calls a tool with these headers. The test only needs the address of the sender. */
const ask = (headers: Record<string, string>) =>
	fetch(`${running.service.url}/api/mcp/tools/listOrganizations`, {
		headers: { authorization: `Bearer ${makeSecret("pat")}`, ...headers },
	});

test("doctor warns of forwarded addresses from a sender that is not trusted", async () => {
	const settings = {
		ASSAY_METRICS_PORT: new URL(running.service.metricsUrl ?? "").port,
	};
	await ask({});
	const before = await examine(settings);
	expect(before.of("proxies")).toMatchObject({ status: "ok" });
	await ask({ "x-forwarded-for": "203.0.113.7" });
	await ask({ forwarded: "for=203.0.113.7" });
	const after = await examine(settings);
	expect(after.of("proxies")).toMatchObject({
		status: "warning",
		found: expect.stringMatching(/^2 requests had a forwarded address/),
		advice: expect.stringContaining("if it is your proxy, add it"),
	});
	expect(after.others("proxies", "separation")).toEqual([]);
	expect(after.code).toBe(0);
});

test("doctor warns of an https address without trusted proxies", async () => {
	const ASSAY_BASE_URL = "https://assay.example.com";
	const missing = await examine({ ASSAY_BASE_URL });
	expect(missing.of("proxies")).toMatchObject({
		status: "warning",
		advice: expect.stringContaining("set it to the proxy's address"),
	});
	const set = await examine({
		ASSAY_BASE_URL,
		ASSAY_TRUSTED_PROXIES: "10.0.0.0/8",
	});
	expect(set.of("proxies")).toMatchObject({
		status: "ok",
		found: "X-Forwarded-For counts from 10.0.0.0/8",
	});
});

test("doctor counts the accounts that are proven only because they are old, and names five", async () => {
	const { database } = running;
	expect((await examine()).of("accounts")).toEqual({
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
	expect((await examine()).of("accounts")).toEqual({
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

test.each([
	["smtps://mail.example.com", "ok", "over TLS or not at all"],
	["smtp://mail.example.com:587", "ok", "over TLS or not at all"],
	["smtp://mail.example.com?requireTLS=false", "warning", "without TLS"],
	["smtp://mail.example.com?ignoreTLS=true", "warning", "without TLS"],
	["smtps://localhost", "ok", "over TLS or not at all"],
	["smtp://localhost:25", "ok", "without TLS"],
	["smtp://127.0.0.1", "ok", "without TLS"],
])("doctor reports the mail server %s with the status %s", async (ASSAY_SMTP_URL, status, words) => {
	const found = await examine({
		ASSAY_SMTP_URL,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	expect(found.of("mail")).toMatchObject({
		status,
		found: expect.stringContaining(words),
	});
	expect(Boolean(found.of("mail")?.advice)).toBe(status === "warning");
});

test("doctor and the metrics count webhooks and chats that fail or are disabled", async () => {
	const { database, organizationId } = running;
	expect((await examine()).of("webhooks and chats")).toMatchObject({
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
	expect((await examine()).of("webhooks and chats")).toMatchObject({
		status: "warning",
		found:
			"2 webhooks fail, 1 webhook was disabled after three days of failures, 1 chat was disabled after three days of failures",
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
	expect((await examine()).of(check)).toBeUndefined();
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
	const found = (await examine()).of(check);
	expect(found?.status).toBe("warning");
	expect(found?.found).toContain(id);
	await set([ending, makeKey({ days: 31 }).certificate]);
	expect((await examine()).of(check)?.status).toBe("ok");
	await database.owner.query("delete from identity_providers");
});

test("doctor says nothing about mail if there is no mail server", async () => {
	expect((await examine()).of("mail")).toBeUndefined();
});

test("doctor warns of an enrollment key that is used up soon, or ended in the last 14 days", async () => {
	expect((await examine()).of("enrollment keys")?.status).toBe("ok");
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
	expect((await examine()).of("enrollment keys")?.status).toBe("ok");
	const change = (what: string) =>
		running.database.owner.query(`update enrollment_keys set ${what}`);
	await change("used = 1");
	expect((await examine()).of("enrollment keys")).toMatchObject({
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
	expect((await examine()).of("enrollment keys")).toMatchObject(
		ended("is used up by 2 devices"),
	);
	await change(
		"used = 0, last_used_at = null, expires_at = now() - interval '13 days'",
	);
	expect((await examine()).of("enrollment keys")).toMatchObject(
		ended("expired on "),
	);
	await change("expires_at = now() - interval '15 days'");
	expect((await examine()).of("enrollment keys")?.status).toBe("ok");
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
	const { code, of, others } = await examine();
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
	expect(others("indexes", "replication", "retention", "separation")).toEqual(
		[],
	);
	expect(code).toBe(1);
});
