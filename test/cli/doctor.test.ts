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
import {
	compareAuthorities,
	FOUND_AUTHORITIES,
} from "../../src/config/shell-authorities.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { CERTIFICATE, PRIVATE_KEY } from "../agent/certificate.ts";
import { makeFolder } from "../support/folder.ts";
import { startService, type TestService } from "../support/service.ts";
import { examine } from "./run-doctor.ts";

let running: TestService;
beforeAll(async () => {
	running = await startService(undefined, { ASSAY_METRICS_PORT: "0" });
});
afterAll(() => running.close());

test("doctor finds the metrics on their port and names the configured traces", async () => {
	const { port } = new URL(running.service.metricsUrl ?? "");
	const { code, of, others } = await examine(running, {
		ASSAY_METRICS_PORT: port,
		OTEL_TRACES_EXPORTER: "otlp",
	});
	expect(of("metrics")?.status).toBe("ok");
	expect(of("traces")?.found).toContain("http/protobuf");
	// The databases of the tests are copies of one, so they share roles.
	expect(others("separation")).toEqual([]);
	expect(code).toBe(0);
});

test("doctor names each setting with which the nightly backup would fail", async () => {
	const settings = {
		ASSAY_BACKUP_KEY_FILE: "/nowhere/backup.key",
		ASSAY_BACKUP_RECIPIENTS: "age1xyz",
		ASSAY_BACKUP_IDENTITY_FILE: "/nowhere/identity",
	};
	const { code, others } = await examine(running, settings);
	expect(others("separation", "metrics")).toMatchObject(
		Object.keys(settings).map((name) => ({
			check: "backup keys",
			status: "problem",
			found: expect.stringContaining(name),
		})),
	);
	expect(code).toBe(1);
});

test("doctor requests the public address and tells this installation from another one and from anything else", async () => {
	const { service } = running;
	const here = await examine(running);
	expect(here.of("public address")).toMatchObject({
		status: "ok",
		found: expect.stringContaining("not from another network"),
	});
	const other = await examine(running, {
		ASSAY_SECRET: "another secret".repeat(3),
	});
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
	expect((await examine(running, settings)).of("public address")).toMatchObject(
		{
			status: "problem",
			found: `http://127.0.0.1:${port} answers with 404, and not as Assay does`,
			advice: expect.stringContaining("let the proxy pass every path"),
		},
	);
	status = 502;
	expect((await examine(running, settings)).of("public address")).toMatchObject(
		{
			status: "problem",
			advice: expect.stringContaining("the proxy does not reach the service"),
		},
	);
	await new Promise((resolve) => server.close(resolve));
	expect((await examine(running, settings)).of("public address")).toMatchObject(
		{
			status: "warning",
			found: expect.stringContaining("does not answer"),
		},
	);
});

test("a certificate that agents would refuse is a problem, and doctor says what to do", async () => {
	const server = createSecureServer(
		{ cert: CERTIFICATE, key: PRIVATE_KEY },
		(_request, response) => void response.end(),
	);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	try {
		const { of, code } = await examine(running, {
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
		describeFailure(url, failed("CERT_HAS_EXPIRED", "certificate has expired")),
	).toMatchObject({
		status: "problem",
		found: expect.stringContaining("no reports arrive"),
		advice: expect.stringMatching(/^renew the certificate/),
	});
	expect(
		describeFailure(url, failed("CERT_NOT_YET_VALID", "not yet valid")).advice,
	).toMatch(/^correct the clock/);
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

test("doctor warns about mails that failed, also if they are tried again", () => {
	expect(describeMails({ failed: 0, retrying: 0 }).status).toBe("ok");
	for (const counts of [
		{ failed: 0, retrying: 1 },
		{ failed: 1, retrying: 0 },
	]) {
		expect(describeMails(counts)).toMatchObject({
			status: "warning",
			advice: expect.stringContaining("mail list"),
		});
	}
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
	const { code, of } = await examine(running, { ASSAY_AGENT_DIR: folder });
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
	const taken = await examine(running, settings);
	expect(taken.of("metrics")?.status).toBe("problem");
	expect(taken.code).toBe(1);
	await new Promise((resolve) => server.close(resolve));
	const none = await examine(running, {
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
	const before = await examine(running, settings);
	expect(before.of("proxies")).toMatchObject({ status: "ok" });
	await ask({ "x-forwarded-for": "203.0.113.7" });
	await ask({ forwarded: "for=203.0.113.7" });
	const after = await examine(running, settings);
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
	const missing = await examine(running, { ASSAY_BASE_URL });
	expect(missing.of("proxies")).toMatchObject({
		status: "warning",
		advice: expect.stringContaining("set it to the proxy's address"),
	});
	const set = await examine(running, {
		ASSAY_BASE_URL,
		ASSAY_TRUSTED_PROXIES: "10.0.0.0/8",
	});
	expect(set.of("proxies")).toMatchObject({
		status: "ok",
		found: "X-Forwarded-For counts from 10.0.0.0/8",
	});
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
	const found = await examine(running, {
		ASSAY_SMTP_URL,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	expect(found.of("mail")).toMatchObject({
		status,
		found: expect.stringContaining(words),
	});
	expect(Boolean(found.of("mail")?.advice)).toBe(status === "warning");
});

test("doctor says nothing about mail if there is no mail server", async () => {
	expect((await examine(running)).of("mail")).toBeUndefined();
});

test("doctor lists that the shell has other certificate authorities than the service", async () => {
	const finding = compareAuthorities(
		{ NODE_EXTRA_CA_CERTS: "/own.pem" },
		{},
		"/etc/assay.env",
	);
	const report = await examine(running, {
		[FOUND_AUTHORITIES]: JSON.stringify(finding),
	});
	expect(report.of("certificate authorities")).toMatchObject({
		status: "warning",
		found: expect.stringContaining("of this shell (/own.pem)"),
		advice: expect.stringContaining("unset NODE_EXTRA_CA_CERTS"),
	});
	expect(
		(await examine(running)).of("certificate authorities"),
	).toBeUndefined();
});
