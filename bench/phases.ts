import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
} from "../src/devices/terms.ts";
import { ratesBetween, readUsage, type Watched } from "./measure.ts";
import type { Options } from "./options.ts";
import type { LoadGenerator } from "./processes.ts";
import type { Load, Shape } from "./protocol.ts";
import type { MixedRow, Row } from "./report.ts";
import type { Kind } from "./requests.ts";

/**
 * The number of connections in the mixed run. It is larger than the number of requests in flight,
 * so no request waits for a connection.
 */
const MIXED_CONNECTIONS = 1024;
/**
 * Milliseconds of load before each measurement, in which code is compiled and caches are filled.
 */
const WARM_UP_MS = 2_000;
const FILL_CONNECTIONS = 256;
const FILL_MS = 300_000;
/** Milliseconds allowed for a report with a changed check. */
export const CHANGE_MS = 1;

/** A server, the load on it, and the processes to watch. */
export interface Stand {
	options: Options;
	generator: LoadGenerator;
	watched: Watched;
	port: number;
	/** Text before the name of each load. */
	prefix: string;
	say: (text: string) => void;
}

/** Measures one load on the server. Returns a row for each kind of request in it. */
async function measure(
	stand: Stand,
	name: string,
	connections: number,
	shape: Shape,
	seconds: number,
): Promise<Row[]> {
	const { generator, watched, port } = stand;
	const load = `${stand.prefix}${name}`;
	stand.say(`${load} over ${connections} connections`);
	await generator.start({ port, connections, ...shape });
	// Each device has only one first report, so none of these is used for warming up.
	if (shape.kind !== "first reports") {
		await generator.during(Math.min(WARM_UP_MS, seconds * 250));
	}
	generator.measure();
	const before = await readUsage(watched);
	await generator.during(seconds * 1000);
	const rates = ratesBetween(before, await readUsage(watched));
	const result = await generator.stop();
	const loadCpu = (result.cpuSeconds / result.seconds) * 100;
	return result.kinds.map((counted) => ({
		load,
		connections,
		...counted,
		...rates,
		loadCpu,
	}));
}

/** Measures a closed loop with each of the numbers of connections. */
async function measureEach(
	stand: Stand,
	name: string,
	shape: Shape,
): Promise<Row[]> {
	const { connections, seconds } = stand.options;
	const rows: Row[] = [];
	for (const count of connections) {
		rows.push(...(await measure(stand, name, count, shape, seconds)));
	}
	return rows;
}

export function runHeartbeats(stand: Stand): Promise<Row[]> {
	return measureEach(stand, "heartbeats", { kind: "heartbeats" });
}

/**
 * Measures first reports. Each measurement gets a share of the devices and ends when all of them
 * have reported.
 */
export function runFirstReports(stand: Stand): Promise<Row[]> {
	const { devices, connections } = stand.options;
	const limit = Math.floor(devices / connections.length);
	return measureEach(stand, "first reports", { kind: "first reports", limit });
}

/** Lets the remaining devices report, so that every later report finds earlier results. */
export async function fill(stand: Stand): Promise<void> {
	const { generator, port, options } = stand;
	stand.say("first reports of all other devices");
	const load: Load = {
		port,
		connections: FILL_CONNECTIONS,
		kind: "first reports",
		limit: options.devices,
	};
	await generator.start(load);
	if (!(await generator.during(FILL_MS))) {
		stand.say("some devices are left: the later loads have first reports too");
	}
	await generator.stop();
}

/**
 * Lets each device send `options.changes` reports, each with one changed check. Most checks then
 * have several spans, as after months.
 */
export async function change(stand: Stand): Promise<void> {
	const { generator, port, options } = stand;
	const limit = options.devices * options.changes;
	stand.say(`${limit} reports with a changed check`);
	const connections = FILL_CONNECTIONS;
	await generator.start({ port, connections, kind: "changing reports", limit });
	if (!(await generator.during(FILL_MS + limit * CHANGE_MS))) {
		throw new Error("the changes took too long");
	}
	await generator.stop();
}

/** Measures reports of devices that have reported before. One result in a hundred has changed. */
export function runSteadyReports(stand: Stand): Promise<Row[]> {
	return measureEach(stand, "steady reports", { kind: "steady reports" });
}

export async function runMixed(stand: Stand): Promise<MixedRow[]> {
	const { mixedSeconds, scheduled } = stand.options;
	// The requests that these devices send at the default intervals.
	const perSecond: Record<Kind, number> = {
		heartbeats: scheduled / DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
		postures: scheduled / DEFAULT_POSTURE_INTERVAL_SECONDS,
	};
	const shape: Shape = { kind: "mixed", perSecond };
	const rows = await measure(
		stand,
		"mixed",
		MIXED_CONNECTIONS,
		shape,
		mixedSeconds,
	);
	return rows.map((row) => ({
		...row,
		load: `${row.load}: ${row.kind}`,
		wantedPerSecond: perSecond[row.kind],
	}));
}
