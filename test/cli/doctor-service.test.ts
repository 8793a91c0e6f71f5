import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	describeStopped,
	examineService,
	examineUnits,
} from "../../src/cli/doctor-service.ts";
import {
	lastLogLine,
	lineOfEnd,
	parseUnits,
} from "../../src/cli/systemd-units.ts";
import { readConfig } from "../../src/config/config.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { startAssay } from "../support/program.ts";
import { SECRET } from "./run-doctor.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

const examine = async (port: string, settings: Record<string, string> = {}) => {
	const [finding] = await examineService(
		readConfig({ ASSAY_PORT: port, ASSAY_SECRET: SECRET, ...settings }),
	);
	return finding;
};

test("doctor says whether the service answers, cannot work, or is another installation", async () => {
	const proxy = await openDatabaseProxy(database.url);
	const service = await startAssay({ DATABASE_URL: proxy.url });
	const { port } = new URL(service.url);
	expect(await examine(port)).toMatchObject({
		check: "service",
		status: "ok",
		found: `the service answers at http://127.0.0.1:${port}`,
	});
	// The service may listen at all addresses of the machine.
	expect(await examine(port, { ASSAY_HOST: "0.0.0.0" })).toMatchObject({
		status: "ok",
	});
	const other = { ASSAY_SECRET: "another secret".repeat(3) };
	expect(await examine(port, other)).toMatchObject({
		status: "problem",
		found: `another installation of Assay answers at http://127.0.0.1:${port}`,
	});
	await proxy.cut();
	expect(await examine(port)).toMatchObject({
		status: "problem",
		found: expect.stringContaining("but cannot work (the service cannot reach"),
	});
	await service.stop("SIGTERM");
});

test("doctor tells another program at the port of the service from no program, and from a silent one", async () => {
	let isSilent = false;
	const server = createServer((request, response) => {
		if (isSilent) request.socket.destroy();
		else response.writeHead(404).end("something else");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const port = String((server.address() as AddressInfo).port);
	expect(await examine(port)).toMatchObject({
		status: "problem",
		found: `another program has the port of the service: http://127.0.0.1:${port} answers with 404, and not as Assay does`,
		advice: expect.stringContaining(`ss -ltnp 'sport = :${port}'`),
	});
	isSilent = true;
	expect(await examine(port)).toMatchObject({
		status: "problem",
		found: expect.stringContaining("something listens at"),
	});
	await new Promise((resolve) => server.close(resolve));
	expect(await examine(port)).toMatchObject({
		found: `the service does not run: nobody listens at http://127.0.0.1:${port}`,
	});
});

/** What systemd 252 of Debian 12 prints. */
const shown = (fields: Record<string, string>) =>
	Object.entries({
		Result: "success",
		NRestarts: "0",
		RestartUSec: "2s",
		ExecMainStatus: "0",
		Id: "assay.service",
		LoadState: "loaded",
		ActiveState: "active",
		SubState: "running",
		UnitFileState: "enabled",
		...fields,
	})
		.map(([name, value]) => `${name}=${value}\n`)
		.join("");

const unit = (fields: Record<string, string>) => parseUnits(shown(fields))[0];

const LINE =
	'{"level":"fatal","msg":"stopping","err":{"message":"ASSAY_LOG_LEVEL must be one of …"}}\n';

test.each([
	[
		"problem",
		{ ActiveState: "failed", SubState: "failed" },
		"nobody listens at URL; the log says why: stopping: ASSAY_LOG_LEVEL must be one of …",
		"correct what the log says (journalctl -u assay, docs/diagnosing.md); then systemctl start assay",
	],
	[
		"problem",
		{ ActiveState: "activating", SubState: "auto-restart" },
		"the log says why: stopping",
		"correct what the log says (journalctl -u assay, docs/diagnosing.md); systemd starts it again by itself, after a pause of 2s",
	],
	["problem", {}, "nobody listens at URL", "listens at another address"],
	[
		"problem",
		{ ActiveState: "activating", SubState: "start", NRestarts: "3" },
		"the log says why: stopping",
		"correct what the log says (journalctl -u assay, docs/diagnosing.md); systemd is starting it again",
	],
	[
		"warning",
		{ ActiveState: "activating", SubState: "start" },
		"assay.service is starting",
		"journalctl -fu assay",
	],
	[
		"warning",
		{ ActiveState: "inactive", SubState: "dead" },
		"somebody has stopped assay.service",
		"systemctl start assay",
	],
	[
		"warning",
		{ ActiveState: "inactive", SubState: "dead", UnitFileState: "disabled" },
		"somebody has stopped assay.service",
		"systemctl enable --now assay",
	],
	["warning", undefined, "nobody listens at URL", "on another machine"],
])("without an answer, the state of the unit decides: %s for %j", (status, fields, found, advice) => {
	const of = fields && unit(fields);
	expect(describeStopped("URL", of, LINE)).toMatchObject({
		check: "service",
		status,
		found: expect.stringContaining(found),
		advice: expect.stringContaining(advice),
	});
});

test.each([
	"auto-restart",
	"auto-restart-queued",
])("a service that was killed is started again by systemd (%s), and no line is taken for the cause", (SubState) => {
	const killed = unit({
		ActiveState: "activating",
		SubState,
		Result: "signal",
		ExecMainStatus: "9",
	});
	const lines = `${LINE}Assay 0.1.1 is ready at https://assay.example
{"level":"error","msg":"could not send a mail","reason":"no answer"}
{"level":"warn","msg":"the database is back after 48 s"}
`;
	expect(describeStopped("URL", killed, lines)).toEqual({
		check: "service",
		status: "problem",
		found: "the service does not run: nobody listens at URL",
		advice:
			"systemd starts it again by itself, after a pause of 2s; wait, and follow the log: journalctl -fu assay",
	});
	expect(examineUnits(killed ? [killed] : [])).toMatchObject([
		{
			found: "assay.service has failed: the result is signal",
			advice:
				"journalctl -u assay.service -n 20 says why; systemd starts it again by itself, after a pause of 2s",
		},
	]);
});

test("the line that explains the end is the last fatal one, or what Node writes about an error", () => {
	expect(
		lineOfEnd(`${LINE}{"level":"info","msg":"the server is closed"}\n`),
	).toMatch(/^stopping: ASSAY_LOG_LEVEL/);
	expect(
		lineOfEnd(
			"Assay 0.1.1 is ready at https://assay.example\n\n<--- Last few GCs --->\n\nFATAL ERROR: Reached heap limit Allocation failed\n----- Native stack trace -----\n 1: 0x1 node::error\n",
		),
	).toBe("FATAL ERROR: Reached heap limit Allocation failed");
	expect(lineOfEnd('{"level":"info","msg":"no error"}\n')).toBeUndefined();
});

test("an error that nobody expected is shown by its message, and not by the last line of its stack", () => {
	const stack =
		'before\nError: no room\n    at write (a.ts:1:2) {\n  code: "E"\n}\n\nNode.js v24.1.0\n';
	expect(lastLogLine(stack)).toBe("Error: no room");
	expect(lastLogLine(`${LINE}${LINE.replace("stopping", "ended")}`)).toMatch(
		/^ended: /,
	);
	expect(lastLogLine("    at write (a.ts:1:2)\n")).toBeUndefined();
});

test("doctor reports a unit that has failed, and a timer that is stopped", () => {
	const text = [
		shown({ ActiveState: "failed", Result: "timeout", NRestarts: "1" }),
		shown({
			Id: "assay-backup.service",
			ActiveState: "failed",
			Result: "exit-code",
			ExecMainStatus: "1",
		}),
		shown({ Id: "assay-backup.timer", ActiveState: "inactive" }),
	].join("\n");
	expect(examineUnits(parseUnits(text))).toMatchObject([
		{
			status: "problem",
			found:
				"assay.service has failed: the result is timeout; systemd has started it 1 more time",
		},
		{
			status: "problem",
			found: "assay-backup.service has failed: its program ended with 1",
			advice: expect.stringContaining("journalctl -u assay-backup.service"),
		},
		{
			status: "warning",
			found: expect.stringContaining("there is no backup every night"),
		},
	]);
	expect(examineUnits(parseUnits(shown({})))).toEqual([]);
	// A machine without the units of the packages.
	expect(parseUnits(shown({ LoadState: "not-found" }))).toEqual([]);
});
