import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { openEmbeddedPostgres } from "../../src/db/embedded.ts";
import { isRunning } from "../support/child.ts";
import { postureResult } from "../support/service.ts";
import { makeDataFolder, post } from "./data-folder.ts";

function readServerLog(folder: string): string {
	const logs = join(folder, "data/postgres/log");
	return readdirSync(logs)
		.map((name) => readFileSync(join(logs, name), "utf8"))
		.join("");
}

test("a SIGTERM to npm, which npm does not pass on, ends the service and the database too", async () => {
	const { start, serverPid } = await makeDataFolder();
	const service = await start({ npm: true });
	const server = serverPid();
	service.process.kill("SIGTERM");
	while (isRunning(service.pid) || isRunning(server)) {
		await new Promise((done) => setTimeout(done, 50));
	}
	await expect.poll(service.stderr).toContain('"stopped"');
	expect(service.stderr()).toContain('"signal":"the end of npm"');
});

test("SIGHUP reads the log level again, SIGUSR1 and SIGUSR2 only write a line to the log, and SIGTERM ends the service and the database with exit code 0 after all accepted requests were answered", async () => {
	const { folder, settings, start, addDevice, serverPid } =
		await makeDataFolder();
	const file = join(folder, "level");
	writeFileSync(file, "error\n");
	settings.ASSAY_LOG_LEVEL_FILE = file;
	settings.ASSAY_ACCESS_LOG = "on";
	const service = await start();
	const server = serverPid();
	const email = "nobody@example.com";
	const signIn = () =>
		fetch(`${service.url}/api/auth/sign-in/email?from=test`, {
			method: "POST",
			headers: {
				"content-type": "application/json",
				origin: service.url,
				"x-request-id": "the-request",
			},
			body: JSON.stringify({ email, password: "wrong password!" }),
		});
	expect((await signIn()).status).toBe(401);
	expect(service.stderr()).not.toContain("/api/auth");

	writeFileSync(file, "info\n");
	process.kill(service.pid, "SIGHUP");
	await expect.poll(service.stderr).toContain("read the log level again");
	expect((await signIn()).status).toBe(401);
	await expect.poll(service.stderr).toContain('"event":"request"');
	const lines = service
		.stderr()
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(lines.filter(({ event }) => event)).toEqual([
		expect.objectContaining({
			level: "warn",
			event: "sign_in_failed",
			way: "PASSWORD",
			address: "127.0.0.1",
		}),
		expect.objectContaining({
			level: "info",
			event: "request",
			method: "POST",
			path: "/api/auth/sign-in/email",
			status: 401,
			address: "127.0.0.1",
			requestId: "the-request",
		}),
	]);
	expect(service.stderr()).not.toContain(email);

	writeFileSync(file, "loud\n");
	process.kill(service.pid, "SIGHUP");
	await expect.poll(service.stderr).toContain("the log level was not changed");
	expect(service.stderr()).toContain(
		`"reason":"ASSAY_LOG_LEVEL_FILE names \\"${file}\\", which must contain only one of trace, debug, info, warn, error, fatal, silent"`,
	);
	expect(service.stderr()).not.toContain('"stack"');
	expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);

	for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
		process.kill(service.pid, signal);
	}
	await expect
		.poll(service.stderr)
		.toMatch(
			/"signal":"SIGUSR1".*"signal":"SIGUSR2"|"signal":"SIGUSR2".*"signal":"SIGUSR1"/s,
		);
	expect(service.stderr()).not.toContain("Debugger listening");
	expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);

	// The commands that add the device read the file, too.
	writeFileSync(file, "info\n");
	const key = await addDevice(service.url);
	const statuses: (number | string)[] = [];
	let stopping: Promise<number | null> | undefined;
	const report = { results: [postureResult()] };
	// At most four requests of one device may wait for each other.
	const work = Array.from({ length: 4 }, async () => {
		for (;;) {
			try {
				const { status } = await post(service.url, "postures", report, key);
				statuses.push(status);
				if (statuses.length === 200) stopping = service.stop("SIGTERM");
			} catch (error) {
				// A new connection is refused, and an idle connection may be closed while a request is on
				// its way. Every accepted request is answered.
				statuses.push((error as { cause: { code: string } }).cause.code);
				return;
			}
		}
	});
	await Promise.all(work);
	expect(await stopping).toBe(0);
	// No request was answered with an error. A request without an answer found its connection closed.
	expect(statuses.filter((status) => typeof status === "number")).toEqual(
		statuses.filter((status) => status === 204),
	);
	expect(isRunning(server)).toBe(false);
	await expect.poll(service.stderr).toContain('"stopped"');
	// The service still answers while PostgreSQL stores its changed pages.
	expect(readServerLog(folder)).toMatch(
		/checkpoint starting: \w+ force wait.*received fast shutdown request/s,
	);

	const postgres = await openEmbeddedPostgres(settings.ASSAY_DATA_DIR ?? "");
	const client = new Client(postgres.connection);
	await client.connect();
	const { rows } = await client.query(
		"select count(*)::int as stored from posture_reports",
	);
	await client.end();
	await postgres.close();
	const answered = statuses.filter((status) => status === 204).length;
	expect(rows).toEqual([{ stored: answered }]);
});

test("Ctrl-C in a terminal that runs npm start stops everything cleanly", async () => {
	const { start, serverPid } = await makeDataFolder();
	const service = await start({ npm: true });
	const server = serverPid();
	await service.stop("SIGINT");
	while (isRunning(service.pid))
		await new Promise((done) => setTimeout(done, 20));
	await expect.poll(service.stderr).toContain('"stopped"');
	expect(isRunning(server)).toBe(false);
});

test.each([
	["an error that nobody catches", "throw(Error('nobody catches this'))"],
	[
		"a rejection that nobody handles",
		"Promise.reject(Error('nobody catches this'))",
	],
])("after %s, the service logs it, stops the database and ends with exit code 1", async (_, fault) => {
	const { settings, start, serverPid } = await makeDataFolder();
	// The program itself contains no such fault, so code that runs before it adds one.
	const code = encodeURIComponent(`process.on("SIGUSR2", () => { ${fault} })`);
	settings.NODE_OPTIONS = `--import=data:text/javascript,${code}`;
	const service = await start();
	const database = serverPid();
	expect(await service.stop("SIGUSR2")).toBe(1);
	await expect.poll(service.stderr).toContain("nobody catches this");
	expect(service.stderr()).toContain("stopping after an unexpected error");
	expect(isRunning(database)).toBe(false);
});
