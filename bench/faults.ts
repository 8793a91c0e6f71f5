import { spawnSync } from "node:child_process";
import {
	chmodSync,
	closeSync,
	mkdirSync,
	openSync,
	rmSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeBenchFolder, makeStand, type Stand } from "./fault-stand.ts";
import { type FaultyDoor, openDoor } from "./faulty-door.ts";
import { freePort, OwnService } from "./own-service.ts";
import { findRecovery, longestGap, rateOf } from "./recovery.ts";
import { describeMachine, toTable } from "./report.ts";
import { compare, type Found } from "./stored.ts";
import { BACKOFF_SPEED, DEVICES, type Ledger, Writers } from "./writers.ts";

const USAGE = `Usage: npm run bench:faults -- [options]

Breaks a service of its own, its PostgreSQL and the network between them in turn, under a load of
heartbeats, posture reports and tool calls that remembers every acknowledged write, and looks for
each of them afterwards. Needs Linux; the full disk needs root. About eight minutes.

  --short          most faults for some seconds, for CI: under 90 seconds
  --only <text>    faults whose name holds this text
  --help           print this

Exit code 1 when an acknowledged write is lost or stored twice, a valid key got 401, an answer was
anything but a success or 503, or the service ended by itself or did not come back.
`;

const { values } = parseArgs({
	options: {
		short: { type: "boolean", default: false },
		only: { type: "string", default: "" },
		help: { type: "boolean", default: false },
	},
});
const isShort = values.short;
const BEFORE_MS = isShort ? 1_500 : 8_000;
/** Load that is watched after the fault, at least and at most. */
const AFTER_MS = isShort ? 1_000 : 8_000;
const MOST_AFTER_MS = isShort ? 25_000 : 90_000;
const SECOND = 1_000;
const TMPFS_MIB = 400;

/** What a fault may do: it breaks something and mends it. Load goes on meanwhile. */
interface Fault {
	name: string;
	/** Left out of the short form. */
	isLong?: true;
	/** Resolves when what an operator could do is done. */
	run: (bench: Bench) => Promise<void>;
}

interface Bench {
	stand: Stand;
	writers: Writers;
	/** Between the service and its database, where a fault needs it. */
	door?: FaultyDoor;
	/** Beside the stand's service, where there are two. */
	second?: OwnService;
}

interface Row extends Found {
	name: string;
	ledger: Ledger;
	perSecond: number;
	unavailableMs: number;
	/** From the mending to 90 % of the rate before; undefined: not in the time there was. */
	recoveredMs: number | undefined;
	peakMib: number;
	crashes: number;
}

const DIRECT: Fault[] = [
	{ name: "none", run: () => sleep(10_000), isLong: true },
	{
		name: "service killed (kill -9), started again",
		run: async ({ stand: { service } }) => {
			await service.kill();
			await service.start();
		},
	},
	{
		name: "PostgreSQL killed (kill -9 of all its processes), started again",
		run: async ({ stand: { postgres } }) => {
			await postgres.kill();
			await postgres.start();
		},
	},
	{
		name: `PostgreSQL stopped for ${isShort ? 8 : 60} s`,
		run: async ({ stand: { postgres } }) => {
			await postgres.stop();
			await sleep((isShort ? 8 : 60) * SECOND);
			await postgres.start();
		},
	},
	{
		name: "all connections to PostgreSQL cut",
		run: async ({ stand }) => {
			await stand.asOwner((client) =>
				client.query(
					"select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
				),
			);
		},
	},
	{
		name: "devices' clocks an hour to ten years behind",
		run: async ({ writers }) => {
			const year = 365 * 86_400_000;
			writers.clockErrorMs = () => -3_600_000 - Math.random() * 10 * year;
			await sleep(isShort ? 1_000 : 8_000);
			writers.clockErrorMs = () => 0;
		},
	},
	{
		name: "devices' clocks up to ten years ahead",
		run: async ({ writers }) => {
			const year = 365 * 86_400_000;
			writers.clockErrorMs = () => 600_000 + Math.random() * 10 * year;
			await sleep(isShort ? 1_000 : 8_000);
			writers.clockErrorMs = () => 0;
		},
	},
];

const BEHIND_A_DOOR: Fault[] = [
	{
		name: `network to PostgreSQL silent for ${isShort ? 4 : 20} s, then all arrives late`,
		run: async ({ door }) => {
			door?.freeze();
			await sleep((isShort ? 4 : 20) * SECOND);
			door?.thaw("late");
		},
	},
	{
		name: `network to PostgreSQL silent for ${isShort ? 4 : 20} s, old connections dead for ever`,
		isLong: true,
		run: async ({ door }) => {
			door?.freeze();
			await sleep((isShort ? 4 : 20) * SECOND);
			door?.thaw("forgotten");
		},
	},
];

const TWO_SERVICES: Fault = {
	name: "one of two services behind a proxy killed (kill -9)",
	run: async ({ second }) => {
		await second?.kill();
		await sleep(isShort ? 2_000 : 10_000);
		await second?.start();
	},
};

const fullDisk = (mount: string): Fault => ({
	name: `disk of PostgreSQL full for ${isShort ? 4 : 20} s`,
	run: async ({ stand: { postgres } }) => {
		const filler = join(mount, "filler");
		// Until nothing fits any more, again and again: PostgreSQL frees some now and then.
		const until = performance.now() + (isShort ? 4 : 20) * SECOND;
		const file = openSync(filler, "w");
		const block = Buffer.alloc(64 * 1024);
		while (performance.now() < until) {
			try {
				for (;;) writeSync(file, block);
			} catch {
				await sleep(20);
			}
		}
		closeSync(file);
		rmSync(filler);
		// A server that could not even write its log has ended.
		if (postgres.pid === undefined) await postgres.start();
	},
});

/** One fault under load, and what became of what was acknowledged. */
async function runFault(
	fault: Fault,
	bench: Bench,
	port: number,
): Promise<Row> {
	say(fault.name);
	const { stand, writers, second } = bench;
	const services = second ? [stand.service, second] : [stand.service];
	for (const service of services) service.peakMib = 0;
	const crashesBefore = services.reduce((sum, one) => sum + one.crashes, 0);
	const watching = setInterval(() => {
		for (const service of services) service.readMib();
	}, 100);
	writers.start(port);
	// The writers begin spread over a second.
	await sleep(1_500);
	const beganAt = performance.now();
	await sleep(BEFORE_MS);
	const brokenAt = performance.now();
	const perSecond = rateOf(writers.ledger, beganAt, brokenAt);
	await fault.run(bench);
	const mendedAt = performance.now();
	let recoveredMs: number | undefined;
	for (;;) {
		const now = performance.now();
		recoveredMs ??= findRecovery(writers.ledger, mendedAt, now, perSecond);
		const isDone = recoveredMs !== undefined && now - mendedAt > AFTER_MS;
		if (isDone || now - mendedAt > MOST_AFTER_MS) break;
		await sleep(100);
	}
	const endedAt = performance.now();
	const ledger = await writers.stop();
	clearInterval(watching);
	const found = await stand.asOwner((client) =>
		compare(client, stand.fleet, ledger),
	);
	return {
		name: fault.name,
		ledger,
		...found,
		acknowledged: ledger.acknowledgedAt.length,
		perSecond,
		unavailableMs: longestGap(ledger, beganAt, endedAt),
		recoveredMs,
		peakMib: Math.max(...services.map(({ peakMib }) => peakMib)),
		crashes:
			services.reduce((sum, one) => sum + one.crashes, 0) - crashesBefore,
	};
}

/** What a row says that must not be. */
function brokenPromises(row: Row): string[] {
	const broken: string[] = [];
	const must = (isKept: boolean, text: string) => {
		if (!isKept) broken.push(`${row.name}: ${text}`);
	};
	must(row.lost === 0, `${row.lost} acknowledged writes are lost`);
	must(row.duplicates === 0, `${row.duplicates} writes are stored twice`);
	must(row.unlogged === 0, `${row.unlogged} tasks have not one audit entry`);
	must(!row.ledger.statuses[401], "a valid key got 401");
	const { surprise } = row.ledger;
	must(surprise === undefined, `an unexpected answer, ${surprise}`);
	must(row.crashes === 0, `the service ended by itself ${row.crashes} times`);
	must(
		row.recoveredMs !== undefined,
		"90 % of the earlier rate was not reached",
	);
	return broken;
}

const seconds = (ms: number | undefined) =>
	ms === undefined ? "never" : (ms / SECOND).toFixed(1);

function toMarkdown(rows: Row[], postgres: string): string {
	const table = toTable(
		[
			"Fault",
			"Writes/s before",
			"Acknowledged",
			"Lost",
			"Twice",
			"401",
			"Statuses",
			"Longest without an answer, s",
			"To 90 % of the rate, s",
			"Peak MiB",
			"Tasks of unknown fate (stored)",
		],
		rows.map((row) => [
			row.name,
			row.perSecond.toFixed(0),
			row.acknowledged,
			row.lost,
			row.duplicates,
			row.ledger.statuses[401] ?? 0,
			Object.entries(row.ledger.statuses)
				.map(([status, count]) => `${status}: ${count}`)
				.join(", "),
			seconds(row.unavailableMs),
			seconds(row.recoveredMs),
			row.peakMib.toFixed(0),
			`${row.unknown} (${row.unknownStored})`,
		]),
	);
	return `${describeMachine(postgres)}; ${new Date().toISOString().slice(0, 10)}; agents back off ${BACKOFF_SPEED} times faster than in the field\n\n${table}\n`;
}

const undo: (() => Promise<void> | void)[] = [];

async function run(): Promise<number> {
	const wanted = ({ name, isLong }: Fault) =>
		name.includes(values.only) && !(isShort && isLong);
	const rows: Row[] = [];
	const add = async (fault: Fault, bench: Bench, port: number) => {
		if (wanted(fault)) rows.push(await runFault(fault, bench, port));
	};
	const rest = [...DIRECT, ...BEHIND_A_DOOR, TWO_SERVICES];
	let version = "";
	if (rest.some(wanted)) {
		say("starting PostgreSQL and the service");
		const stand = await makeStand(DEVICES);
		undo.push(stand.close);
		version = await stand.asOwner(async (client) => {
			const { rows } = await client.query("show server_version");
			return rows[0].server_version;
		});
		const { service, fleet, tenants } = stand;
		const writers = new Writers(service.port, fleet, tenants);
		const bench = { stand, writers };
		for (const fault of DIRECT) await add(fault, bench, service.port);

		if (BEHIND_A_DOOR.some(wanted)) {
			const door = await openDoor(() => [{ path: stand.postgres.socket }]);
			undo.push(door.close);
			const url = new URL(stand.postgres.url);
			url.hostname = "127.0.0.1";
			url.port = String(door.port);
			url.searchParams.delete("host");
			const distant = await startBeside(stand, url.href);
			// The stand's own service must not take the load.
			await service.stop();
			const behind = { ...bench, stand: { ...stand, service: distant }, door };
			for (const fault of BEHIND_A_DOOR) {
				await add(fault, behind, distant.port);
			}
			await distant.stop();
			await service.start();
		}
		if (wanted(TWO_SERVICES)) {
			const second = await startBeside(stand, stand.postgres.url);
			let turn = 0;
			const door = await openDoor(() => {
				const ports = [service.port, second.port];
				if (turn++ % 2) ports.reverse();
				return ports.map((port) => ({ port, host: "127.0.0.1" }));
			});
			undo.push(door.close);
			await add(TWO_SERVICES, { ...bench, second }, door.port);
			await second.stop();
		}
	}
	const skipped = await runFullDisk(add, wanted);
	process.stdout.write(toMarkdown(rows, version));
	if (skipped) process.stdout.write(`\nSkipped: ${skipped}.\n`);
	const broken = rows.flatMap(brokenPromises);
	for (const promise of broken) say(`BROKEN: ${promise}`);
	return broken.length === 0 ? 0 : 1;
}

async function startBeside(stand: Stand, url: string): Promise<OwnService> {
	const folder = join(stand.folder, "beside");
	const service = new OwnService(await freePort(), folder, url);
	undo.push(() => service.stop());
	await service.start();
	return service;
}

/** On a disk of its own, small enough to be filled. Gives why it was left out, if it was. */
async function runFullDisk(
	add: (fault: Fault, bench: Bench, port: number) => Promise<void>,
	wanted: (fault: Fault) => boolean,
): Promise<string | undefined> {
	const folder = makeBenchFolder();
	const mount = join(folder, "disk");
	const fault = fullDisk(mount);
	if (!wanted(fault)) {
		rmSync(folder, { recursive: true });
		return undefined;
	}
	mkdirSync(mount);
	const mounted = spawnSync("mount", [
		"-t",
		"tmpfs",
		"-o",
		`size=${TMPFS_MIB}m`,
		"tmpfs",
		mount,
	]);
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	if (mounted.status !== 0) {
		return "the full disk, which needs a root who may mount a tmpfs";
	}
	undo.push(() => void spawnSync("umount", ["-l", mount]));
	chmodSync(mount, 0o711);
	const stand = await makeStand(DEVICES, join(mount, "db"));
	undo.push(stand.close);
	const { service, fleet, tenants } = stand;
	const writers = new Writers(service.port, fleet, tenants);
	await add(fault, { stand, writers }, service.port);
	return undefined;
}

function say(text: string): void {
	process.stderr.write(`${text}\n`);
}

if (values.help) {
	process.stdout.write(USAGE);
} else {
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(signal, () => void finish(1));
	}
	await finish(
		await run().catch((error) => {
			say(`bench: ${error instanceof Error ? error.stack : error}`);
			return 1;
		}),
	);
}

async function finish(code: number): Promise<never> {
	for (let step = undo.pop(); step; step = undo.pop()) {
		await Promise.resolve()
			.then(step)
			.catch((error) => say(`while cleaning up: ${error}`));
	}
	process.exit(code);
}
