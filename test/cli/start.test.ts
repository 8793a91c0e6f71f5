import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { takeTurn } from "../../src/db/migrate.ts";
import { EXIT_REFUSED } from "../../src/errors.ts";
import { firstLine, isRunning } from "../support/child.ts";
import { runCommand } from "../support/command.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { assay, type Started } from "../support/program.ts";
import { heartbeatBody } from "../support/service.ts";
import { type DataFolder, makeDataFolder, post } from "./data-folder.ts";

test("the service starts in an empty folder, other commands work at the same time, and after kill -9 the next start finds every acknowledged write", async () => {
	const { settings, start, addDevice, serverPid } = await makeDataFolder({
		isEmpty: true,
	});
	const first = await start();
	expect((await fetch(`${first.url}/health/ready`)).status).toBe(200);
	const key = await addDevice(first.url);
	const { port } = new URL(first.url);
	const doctor = await runCommand(["doctor"], {
		...settings,
		ASSAY_PORT: port,
	});
	expect(doctor.stdout).toContain("the service answers at");
	expect(doctor.stdout).toContain("embedded PostgreSQL");
	expect(doctor.code).toBe(0);
	// The other commands have ended, but the database still runs for the service.
	expect((await fetch(`${first.url}/health/ready`)).status).toBe(200);

	await first.stop("SIGKILL");
	const second = await start();
	const beat = async () =>
		(await post(second.url, "heartbeat", heartbeatBody(), key)).status;
	expect(await beat()).toBe(200);

	// The service restarts a database that is killed under it.
	process.kill(serverPid(), "SIGKILL");
	const statuses = new Set<number>();
	while (!statuses.has(503)) statuses.add(await beat());
	await expect.poll(beat).toBe(200);
	expect([...statuses].filter((status) => status !== 200)).toEqual([503]);

	// A lost reader of the output does not stop it.
	second.process.stdout?.destroy();
	second.process.stderr?.destroy();
	for (const body of ["{", "[]"]) {
		await fetch(`${second.url}/api/agent/v1/enroll`, { method: "POST", body });
	}
	const server = serverPid();
	expect(await second.stop("SIGTERM")).toBe(0);
	expect(isRunning(server)).toBe(false);
});

/** While nobody has an account, each start prints one setup link, which replaces earlier ones. */
async function expectSetupLink(
	{ url, setupUrl }: Started,
	settings: Record<string, string>,
): Promise<void> {
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
}

test("several workers share one address, one database and one setup link, one that dies is replaced, and all stop together", async () => {
	const { settings, start, addDevice, serverPid } = await makeDataFolder();
	const service = await start({ workers: 2 });
	await expectSetupLink(service, settings);
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

test("if the workers cannot start, the command exits with 1, and its last line has the reason", async () => {
	const { code, stderr } = await assay(["start", "--workers", "2"], {
		DATABASE_URL: "postgres://nobody:nothing@127.0.0.1:1/none",
	});
	expect(code).toBe(1);
	expect(JSON.parse(stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
		level: "fatal",
		reason: expect.stringMatching(
			/^Assay cannot open its database .*ECONNREFUSED/,
		),
	});
});

test("with a wrong setting, the command exits with the code after which systemd does not try again, and one line says why", async () => {
	const wrong = { ASSAY_LOG_LEVEL: "loud" };
	const { code, stderr } = await assay(["start"], wrong);
	expect(code).toBe(EXIT_REFUSED);
	expect(stderr).toMatch(/^.+\n$/);
	expect(JSON.parse(stderr)).toMatchObject({
		level: "fatal",
		time: expect.any(String),
		reason: expect.stringMatching(/^ASSAY_LOG_LEVEL must be one of /),
		msg: "Assay could not start",
	});
	expect((await runCommand(["doctor"], wrong)).code).toBe(1);
	const unit = readFileSync("deploy/assay.service", "utf8");
	expect(unit).toContain(`\nRestartPreventExitStatus=${EXIT_REFUSED}\n`);
});

/** Receives what the service tells systemd. Node cannot receive from a Unix datagram socket. */
async function listenAsSystemd({ folder, settings }: DataFolder) {
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
	const own = await makeDataFolder({ isEmpty: true });
	const { url: databaseUrl } = await createDatabaseForTest();
	const other = new Client({ connectionString: databaseUrl });
	await other.connect();
	onTestFinished(() => other.end());
	await takeTurn(other);
	const systemd = await listenAsSystemd(own);
	Object.assign(own.settings, { DATABASE_URL: databaseUrl });
	const starting = own.start();
	await expect
		.poll(systemd.told)
		.toMatch(/^STATUS=Starting for \d+ s: waiting until no other process/m);
	expect(systemd.told()).not.toContain("READY=1");
	await other.query("select pg_advisory_unlock_all()");
	const service = await starting;
	await expect.poll(systemd.told).toMatch(/READY=1\nSTATUS=\n/);
	expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
	expect(service.stderr()).toMatch(
		/"msg":"still starting after \d+ s: waiting until no other process/,
	);
});

test("the service tells a systemd that is too busy to read once more, without an error in the log, and a stop that fails ends with 1 and is not called a failed start", async () => {
	const own = await makeDataFolder();
	const systemd = await listenAsSystemd(own);
	systemd.kill("SIGSTOP");
	const service = await own.start();
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

	const server = own.serverPid();
	renameSync(join(own.folder, "data"), join(own.folder, "moved"));
	expect(await service.stop("SIGTERM")).toBe(1);
	process.kill(server, "SIGINT");
	await expect.poll(() => isRunning(server)).toBe(false);
	await expect
		.poll(service.stderr)
		.toMatch(
			/"reason":"the data folder .+"msg":"Assay could not stop properly"/,
		);
	expect(service.stderr()).not.toContain("could not start");
});
