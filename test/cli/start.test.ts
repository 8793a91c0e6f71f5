import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { openEmbeddedPostgres } from "../../src/db/embedded.ts";
import { takeTurn } from "../../src/db/migrate.ts";
import { EXIT_REFUSED } from "../../src/errors.ts";
import { firstLine, isRunning } from "../support/child.ts";
import { runCommand } from "../support/command.ts";
import { createEmptyDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { copyDataFolder } from "../support/made-data.ts";
import { assay, type Started, startAssay } from "../support/program.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let folder: string;
let settings: Record<string, string>;
let running: Started[];
beforeEach(async () => {
	folder = await makeFolder("assay-start-");
	settings = { ASSAY_DATA_DIR: join(folder, "data") };
	running = [];
});
afterEach(async () => {
	for (const one of running) {
		if (isRunning(one.pid)) await one.stop("SIGTERM");
	}
	await rm(folder, { recursive: true, force: true });
});

/** Copies a finished data folder, for tests that are not about its creation. */
const fillDataFolder = () => copyDataFolder(join(folder, "data"));

/** Starts the service. When the service has ended, its last output may still be in the pipe. */
async function start(
	how: { npm?: boolean; workers?: number } = {},
): Promise<Started> {
	const started = await startAssay(settings, how);
	running.push(started);
	return started;
}

/** Returns the process id of the embedded server's main process. */
function serverPid(): number {
	const file = join(folder, "data/postgres/postmaster.pid");
	return Number(readFileSync(file, "utf8").split("\n")[0]);
}

function readServerLog(): string {
	const logs = join(folder, "data/postgres/log");
	return readdirSync(logs)
		.map((name) => readFileSync(join(logs, name), "utf8"))
		.join("");
}

/** Creates an active device with commands while the service runs. Returns the device key. */
async function addDevice(url: string): Promise<string> {
	const org = await runCommand(
		["org", "create", "--name", "Acme", "--json"],
		settings,
	);
	const { organization_id } = JSON.parse(org.stdout);
	const device = await runCommand(
		["device", "create", "--org", organization_id, "--json"],
		settings,
	);
	const { enrollment_token: token } = JSON.parse(device.stdout);
	const enrolled = await post(url, "enroll", { token });
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	expect((await post(url, "heartbeat", heartbeatBody(), key)).status).toBe(200);
	return key;
}

function post(url: string, route: string, body: unknown, key?: string) {
	return fetch(`${url}/api/agent/v1/${route}`, {
		method: "POST",
		body: JSON.stringify(body),
		headers: key ? { authorization: `Bearer ${key}` } : {},
	});
}

test("the service starts in an empty folder and prints the next steps, and other commands work at the same time", async () => {
	const { url } = await start();
	expect((await fetch(`${url}/health/ready`)).status).toBe(200);
	await addDevice(url);
	const { port } = new URL(url);
	const doctor = await assay(["doctor"], { ...settings, ASSAY_PORT: port });
	expect(doctor.stdout).toContain("the service answers at");
	expect(doctor.stdout).toContain("embedded PostgreSQL");
	expect(doctor.code).toBe(0);
	// The other commands have ended, but the database still runs for the service.
	expect((await fetch(`${url}/health/ready`)).status).toBe(200);
});

test("while nobody has an account, each start prints one setup link, also with workers, which replaces the previous one", async () => {
	await fillDataFolder();
	const { url, setupUrl } = await start({ workers: 2 });
	const setUp = async (link: string | undefined) => {
		const answer = await fetch(`${url}/api/setup`, {
			method: "POST",
			body: JSON.stringify({
				token: link?.split("#")[1],
				organization_name: "Acme",
				name: "Ada",
				email: "ada@example.com",
				password: "correct horse battery",
			}),
			headers: { "content-type": "application/json", origin: url },
		});
		return answer.status;
	};
	expect(setupUrl).toContain(`${url}/setup#asy_set_`);
	const newer = await runCommand(["setup-link"], settings);
	expect(await setUp(setupUrl)).toBe(400);
	expect(await setUp(newer.stdout.trim())).toBe(200);
});

test("a SIGTERM to npm, which npm does not pass on, ends the service and the database too", async () => {
	await fillDataFolder();
	const service = await start({ npm: true });
	const server = serverPid();
	service.process.kill("SIGTERM");
	while (isRunning(service.pid) || isRunning(server)) {
		await new Promise((done) => setTimeout(done, 50));
	}
	await expect.poll(service.stderr).toContain('"stopped"');
	expect(service.stderr()).toContain('"signal":"the end of npm"');
});

test("SIGTERM ends the service and the database with exit code 0 after all accepted requests were answered", async () => {
	await fillDataFolder();
	const service = await start();
	const key = await addDevice(service.url);
	const server = serverPid();
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
	expect(readServerLog()).toMatch(
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
	await fillDataFolder();
	const service = await start({ npm: true });
	const server = serverPid();
	await service.stop("SIGINT");
	while (isRunning(service.pid))
		await new Promise((done) => setTimeout(done, 20));
	await expect.poll(service.stderr).toContain('"stopped"');
	expect(isRunning(server)).toBe(false);
});

test("SIGUSR1 and SIGUSR2 only write a line to the log, and a lost reader of the output does not stop the service", async () => {
	await fillDataFolder();
	const service = await start();
	const server = serverPid();
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

	service.process.stdout?.destroy();
	service.process.stderr?.destroy();
	for (const body of ["{", "[]"]) {
		await fetch(`${service.url}/api/agent/v1/enroll`, { method: "POST", body });
	}
	expect(await service.stop("SIGTERM")).toBe(0);
	expect(isRunning(server)).toBe(false);
});

test("SIGHUP reads the log level again, and the access log and failed sign-ins have their lines", async () => {
	await fillDataFolder();
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
	expect(await service.stop("SIGTERM")).toBe(0);
	expect(isRunning(server)).toBe(false);
});

test.each([
	["an error that nobody catches", "throw(Error('nobody catches this'))"],
	[
		"a rejection that nobody handles",
		"Promise.reject(Error('nobody catches this'))",
	],
])("after %s, the service logs it, stops the database and ends with exit code 1", async (_, fault) => {
	await fillDataFolder();
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

test("after kill -9, the next start finds every acknowledged write and restarts a database that is killed under it", async () => {
	await fillDataFolder();
	const first = await start();
	const key = await addDevice(first.url);
	await first.stop("SIGKILL");
	const second = await start();
	const beat = async () =>
		(await post(second.url, "heartbeat", heartbeatBody(), key)).status;
	expect(await beat()).toBe(200);

	process.kill(serverPid(), "SIGKILL");
	const statuses = new Set<number>();
	while (!statuses.has(503)) statuses.add(await beat());
	await expect.poll(beat).toBe(200);
	expect([...statuses].filter((status) => status !== 200)).toEqual([503]);
	expect(await second.stop("SIGTERM")).toBe(0);
});

test("several workers share one address and one database, one that dies is replaced, and all stop together", async () => {
	await fillDataFolder();
	const service = await start({ workers: 2 });
	const key = await addDevice(service.url);
	const server = serverPid();
	const workers = () =>
		execFileSync("ps", ["-o", "pid=,stat=", "--ppid", String(service.pid)], {
			encoding: "utf8",
		})
			.trim()
			.split("\n")
			.map((line) => line.trim().split(/ +/))
			.filter(([, state]) => !state?.startsWith("Z"))
			.map(([pid]) => Number(pid))
			.filter((pid) => pid !== server);
	const before = workers();
	expect(before).toHaveLength(2);

	process.kill(before[0] as number, "SIGKILL");
	while (workers().filter((pid) => !before.includes(pid)).length === 0) {
		await new Promise((done) => setTimeout(done, 50));
	}
	for (let beat = 0; beat < 10; beat++) {
		const answer = await post(service.url, "heartbeat", heartbeatBody(), key);
		expect(answer.status).toBe(200);
	}
	const after = workers();
	expect(await service.stop("SIGTERM")).toBe(0);
	expect(after.filter(isRunning)).toEqual([]);
	expect(isRunning(server)).toBe(false);
});

test("if the workers cannot start, the command exits with 1 and prints the reason", async () => {
	const refused = startAssay(
		{ DATABASE_URL: "postgres://nobody:nothing@127.0.0.1:1/none" },
		{ workers: 2 },
	);
	await expect(refused).rejects.toThrow(
		/ended with 1 .*cannot open its database/s,
	);
});

test("with a wrong setting, the command exits with the code after which systemd does not try again, and one line says why", async () => {
	const wrong = { ASSAY_LOG_LEVEL: "loud" };
	const { code, stderr } = await assay(["start"], wrong);
	expect(code).toBe(EXIT_REFUSED);
	expect(stderr).toMatch(/^assay: ASSAY_LOG_LEVEL must be one of .*\n$/);
	expect((await assay(["doctor"], wrong)).code).toBe(1);
	const unit = readFileSync("deploy/assay.service", "utf8");
	expect(unit).toContain(`\nRestartPreventExitStatus=${EXIT_REFUSED}\n`);
});

/** Receives what the service tells systemd. Node cannot receive from a Unix datagram socket. */
async function listenAsSystemd() {
	const socket = join(folder, "notify");
	settings.NOTIFY_SOCKET = socket;
	const receiver = spawn("perl", [
		...["-MIO::Socket::UNIX", "-MSocket", "-e"],
		`$s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die $!;
		$| = 1; print "listening\n"; while (defined $s->recv($m, 4096)) { print "$m\n" }`,
		socket,
	]);
	onTestFinished(() => void receiver.kill("SIGKILL"));
	await firstLine(receiver);
	let told = "";
	receiver.stdout.on("data", (text) => {
		told += text;
	});
	return {
		told: () => told,
		kill: (signal: NodeJS.Signals) => receiver.kill(signal),
	};
}

test("a slow start says what it does, in the log and to systemd, which hears when requests are answered and not before", async () => {
	const databaseUrl = await createEmptyDatabase();
	const other = new Client({ connectionString: databaseUrl });
	await other.connect();
	onTestFinished(() => other.end());
	await takeTurn(other);
	const systemd = await listenAsSystemd();
	Object.assign(settings, { DATABASE_URL: databaseUrl });
	const starting = start();
	await expect
		.poll(systemd.told)
		.toMatch(/^STATUS=Starting for \d+ s: waiting until no other process/m);
	expect(systemd.told()).not.toContain("READY=1");
	await other.query("select pg_advisory_unlock_all()");
	const service = await starting;
	await expect.poll(systemd.told).toMatch(/READY=1\nSTATUS=Ready\n/);
	expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
	expect(service.stderr()).toMatch(
		/"msg":"still starting after \d+ s: waiting until no other process/,
	);
});

test("the service tells a systemd that is too busy to read once more, without an error in the log", async () => {
	await fillDataFolder();
	const systemd = await listenAsSystemd();
	systemd.kill("SIGSTOP");
	const service = await start();
	const attempts = new Set<string>();
	await expect
		.poll(() => {
			const found = spawnSync("pgrep", [
				...["--parent", String(service.pid), "systemd-notify"],
			]);
			const [pid] = found.stdout.toString().split("\n");
			if (pid) attempts.add(pid);
			return attempts.size;
		})
		.toBe(2);
	systemd.kill("SIGCONT");
	await expect.poll(systemd.told).toMatch(/READY=1.*READY=1/s);
	expect(service.stderr()).not.toContain('"level":"error"');
});
