import { readFileSync, writeFileSync } from "node:fs";
import { machineOf } from "../simulator/machine.ts";
import { resultsOf } from "../simulator/posture.ts";
import type { Evidence } from "../src/devices/terms.ts";
import type { HeartbeatRequest } from "../src/devices/wire.ts";
import { makeId, makeOrganizationId } from "../src/id.ts";
import { makeSecret } from "../src/tokens/secret.ts";

/** The devices of a run. Everything else about a device follows from its index. */
export interface Fleet {
	organizations: string[];
	/** The key and the id of each device. */
	keys: string[];
	ids: string[];
}

/** Makes `count` new devices and assigns them to the organizations in turn. */
export function makeFleet(count: number, organizations: number): Fleet {
	const fleet: Fleet = {
		organizations: Array.from({ length: organizations }, makeOrganizationId),
		keys: [],
		ids: [],
	};
	for (let device = 0; device < count; device++) {
		fleet.keys.push(makeSecret("dev"));
		fleet.ids.push(makeId(organizationOf(fleet, device), "device"));
	}
	return fleet;
}

export function organizationOf(fleet: Fleet, device: number): string {
	return fleet.organizations[device % fleet.organizations.length] as string;
}

/** Writes the fleet to a file for the load generator, which is a separate process. */
export function writeFleet(file: string, fleet: Fleet): void {
	writeFileSync(file, JSON.stringify(fleet), { mode: 0o600 });
}

export function readFleet(file: string): Fleet {
	return JSON.parse(readFileSync(file, "utf8"));
}

const SEED = 1;

/** Returns the facts that every heartbeat of a device contains. They come from the simulator. */
export function factsOf(device: number): HeartbeatRequest {
	return machineOf(SEED, device).facts;
}

/** Returns for each check the evidence of a simulated Mac, as the Mac's agent reports it. */
export function sampleEvidence(): Evidence[] {
	let device = 0;
	while (machineOf(SEED, device).facts.platform !== "DARWIN") device++;
	const at = Date.parse("2026-03-31T08:00:00Z");
	const look = { seed: SEED, at, begun: at, drift: 0 };
	return resultsOf(machineOf(SEED, device), look).map(
		({ evidence }) => evidence,
	);
}

/**
 * Goes through the devices in random order, and starts again only when all have had their turn.
 * Later reports use another order than the first ones, which determined the order of the rows in
 * the table. In real use, devices whose rows are neighbors do not report together, and updating
 * neighboring rows at the same time would fill their page.
 */
export class Walk {
	readonly #beats: Uint32Array;
	readonly #first: Uint32Array;
	readonly #again: Uint32Array;
	#beat = 0;
	#firstReport = 0;
	#report = 0;

	constructor(devices: number) {
		this.#beats = shuffle(devices);
		this.#first = shuffle(devices);
		this.#again = shuffle(devices);
	}

	nextToBeat(): number {
		return this.#beats[this.#beat++ % this.#beats.length] as number;
	}

	/** Returns the next device for a first report, or undefined if all have sent one. */
	nextToReportFirst(): number | undefined {
		return this.#first[this.#firstReport++];
	}

	nextToReportAgain(): number {
		return this.#again[this.#report++ % this.#again.length] as number;
	}
}

/** Returns the numbers from 0 to `count` - 1 in random order. */
function shuffle(count: number): Uint32Array {
	const order = Uint32Array.from({ length: count }, (_, index) => index);
	for (let last = count - 1; last > 0; last--) {
		const other = Math.floor(Math.random() * (last + 1));
		const moved = order[last] as number;
		order[last] = order[other] as number;
		order[other] = moved;
	}
	return order;
}
