import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BACKOFF_SPEED, DEVICES, Writers } from "../failover/writers.ts";
import { freePort, OwnService } from "../own-service.ts";
import { conclude, runAndUndo, say, type Undo } from "../run.ts";
import { CONSEQUENCES, killWhileEventsAreHandled } from "./consequences.ts";
import { openDoor } from "./faulty-door.ts";
import {
	type Bench,
	directFaults,
	type Fault,
	fullDisk,
	NETWORK_FAULTS,
	ONE_OF_TWO_FROZEN,
	oneOfTwoKilled,
} from "./kinds.ts";
import { brokenPromises, toMarkdown } from "./report.ts";
import { type FaultRow, runFault } from "./run.ts";
import { makeBenchFolder, makeStand, type Stand } from "./stand.ts";

const USAGE = `Usage: npm run bench:faults -- [options]

Breaks a service, its PostgreSQL and the network between them, one after the other, under a load of
heartbeats, posture reports and tool calls. Then looks for every acknowledged write in the database.
Finally kills a service again and again while events open nonconformities, send mails and call a
webhook. Needs Linux; the full disk needs root. Takes about eleven minutes.

  --short          run six faults for a few seconds each, as CI does: takes about two minutes
                   and judges no times
  --only <text>    run only the faults whose name contains this text
  --help           print this text

The exit code is 1 if an acknowledged write is lost or stored twice, if a valid key got 401, if an
answer was neither a success nor a 503, if the service ended unexpectedly or did not recover, or if
an event or one of its consequences is lost or stored twice.
`;

const { values } = parseArgs({
	options: {
		short: { type: "boolean", default: false },
		only: { type: "string", default: "" },
		help: { type: "boolean", default: false },
	},
});
const isShort = values.short;
/**
 * In CI, the load goes on for a few seconds after a service is back. The browser tests run meanwhile
 * and need the processor, so the earlier rate may come back much later.
 */
const WATCH = isShort
	? { beforeMs: 500, afterMs: 1_000, mostAfterMs: 4_000 }
	: { beforeMs: 8_000, afterMs: 8_000, mostAfterMs: 90_000 };
const TMPFS_MIB = 400;
const KILLS = isShort ? 4 : 30;

const rows: FaultRow[] = [];
const undo: Undo[] = [];

function isWanted(fault: Fault): boolean {
	const isInForm = !isShort || fault.isShort === true;
	return isInForm && fault.name.includes(values.only);
}

async function add(fault: Fault, bench: Bench, port: number): Promise<void> {
	if (isWanted(fault)) rows.push(await runFault(fault, bench, port, WATCH));
}

async function run(): Promise<number> {
	const direct = directFaults(isShort);
	const ofTwo = [oneOfTwoKilled(isShort), ONE_OF_TWO_FROZEN].filter(isWanted);
	let version = "";
	if ([...direct, ...NETWORK_FAULTS, ...ofTwo].some(isWanted)) {
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
		for (const fault of direct) await add(fault, bench, service.port);
		if (NETWORK_FAULTS.some(isWanted)) await breakNetwork(bench);
		if (ofTwo.length > 0) await breakOneOfTwo(ofTwo, bench);
	}
	const skipped = await runFullDisk();
	const consequences = CONSEQUENCES.includes(values.only)
		? await killWhileEventsAreHandled(KILLS, undo)
		: { markdown: "", broken: [] };
	if (rows.length === 0) {
		if (consequences.markdown) {
			return conclude(consequences.markdown, consequences.broken);
		}
		if (!skipped) throw new Error(`no fault's name holds "${values.only}"`);
	}
	const peak = {
		heading: "Peak MiB",
		cell: (row: FaultRow) => row.peakMib.toFixed(0),
	};
	const note = `agents back off ${BACKOFF_SPEED} times faster than in the field`;
	const table = toMarkdown(rows, peak, version, note);
	const broken = rows.flatMap((row) =>
		brokenPromises(row, !isShort, [
			[row.isBack, "nothing was acknowledged after the mending"],
		]),
	);
	const missing = skipped ? `\nSkipped: ${skipped}.\n` : "";
	return conclude(table + missing + consequences.markdown, [
		...broken,
		...consequences.broken,
	]);
}

/**
 * Runs the faults of the network on a service that reaches the stand's database through a proxy.
 */
async function breakNetwork(bench: Bench): Promise<void> {
	const { stand } = bench;
	const door = await openDoor(() => [{ path: stand.postgres.socket }]);
	undo.push(door.close);
	const url = new URL(stand.postgres.url);
	url.hostname = "127.0.0.1";
	url.port = String(door.port);
	url.searchParams.delete("host");
	const distant = await startBeside(stand, url.href);
	// The stand's own service is stopped, because it must not take any of the load.
	await stand.service.stop();
	const behind = { ...bench, stand: { ...stand, service: distant }, door };
	for (const fault of NETWORK_FAULTS) await add(fault, behind, distant.port);
	await distant.stop();
	await stand.service.start();
}

/**
 * Sends the load to a proxy in front of two services. If one does not answer, the proxy uses the
 * other.
 */
async function breakOneOfTwo(faults: Fault[], bench: Bench): Promise<void> {
	const { stand } = bench;
	const second = await startBeside(stand, stand.postgres.url);
	let turn = 0;
	const door = await openDoor(() => {
		const ports = [stand.service.port, second.port];
		if (turn++ % 2) ports.reverse();
		return ports.map((port) => ({ port, host: "127.0.0.1" }));
	});
	undo.push(door.close);
	for (const fault of faults) await add(fault, { ...bench, second }, door.port);
	await second.stop();
}

async function startBeside(stand: Stand, url: string): Promise<OwnService> {
	const folder = join(stand.folder, "beside");
	const service = new OwnService(await freePort(), folder, url);
	undo.push(() => service.stop());
	await service.start();
	return service;
}

/**
 * Runs the fault of a full disk on a file system that is small enough to fill. If it cannot run,
 * returns the reason.
 */
async function runFullDisk(): Promise<string | undefined> {
	const folder = makeBenchFolder();
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const mount = join(folder, "disk");
	const fault = fullDisk(mount, TMPFS_MIB);
	if (!isWanted(fault)) return undefined;
	mkdirSync(mount);
	const options = ["-t", "tmpfs", "-o", `size=${TMPFS_MIB}m`, "tmpfs", mount];
	if (spawnSync("mount", options).status !== 0) {
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

if (values.help) process.stdout.write(USAGE);
else await runAndUndo(run, undo);
