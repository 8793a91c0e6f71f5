import { makeId } from "../src/id.ts";
import type { Door } from "./door.ts";
import { type Machine, machineOf } from "./machine.ts";
import { resultsOf } from "./posture.ts";
import { originalOf, roleOf } from "./roles.ts";

/**
 * Simulated devices. Of each only what the service gave it is kept, some 100 bytes; what it is
 * and sees follows from the seed, its number and the time.
 */
export interface Fleet {
	seed: number;
	/** See Look: the share of checks that change and change back within 20 minutes. */
	drift: number;
	begun: number;
	/** By number; undefined for a device that has none, or whose key was refused. */
	keys: (string | undefined)[];
	/** Once it has sent a heartbeat. */
	deviceIds: (string | undefined)[];
}

export function makeFleet(seed: number, drift: number): Fleet {
	return { seed, drift, begun: Date.now(), keys: [], deviceIds: [] };
}

/** What the device says it is: for a duplicate the hardware of another. */
export function claimedMachine(seed: number, n: number): Machine {
	const machine = machineOf(seed, n);
	if (roleOf(n) !== "duplicate") return machine;
	const { facts } = machineOf(seed, originalOf(n));
	return {
		...machine,
		facts: {
			...facts,
			hostname: `${facts.hostname.split(".")[0]}-new`,
		},
	};
}

/** Another machine with the key of device `n`: a copied disk. */
export function copyOf(machine: Machine): Machine["facts"] {
	const { facts } = machine;
	const last = facts.hardware_uuid.at(-1) === "0" ? "1" : "0";
	return {
		...facts,
		hardware_uuid: facts.hardware_uuid.slice(0, -1) + last,
		hostname: facts.hostname.replace(/(\.|$)/, "-copy$1"),
	};
}

/** A report of device `n` as its agent writes it, of what is seen now. */
export function reportOf(fleet: Fleet, n: number): object[] {
	const at = Date.now();
	const observed_at = new Date(at).toISOString();
	const deviceId = fleet.deviceIds[n];
	const correlation_id = deviceId && makeId(deviceId, "device_posture_report");
	return resultsOf(machineOf(fleet.seed, n), { ...fleet, at }).map(
		(result) => ({ ...result, observed_at, correlation_id }),
	);
}

/** A heartbeat of device `n`; now and then that of its copy. Forgets a key that is refused. */
export async function beat(
	fleet: Fleet,
	door: Door,
	n: number,
): Promise<Awaited<ReturnType<Door["heartbeat"]>> | undefined> {
	const key = fleet.keys[n];
	if (key === undefined) return undefined;
	const machine = claimedMachine(fleet.seed, n);
	const answer = await door.heartbeat(key, machine.facts);
	if (answer.status === 401) fleet.keys[n] = undefined;
	if (!answer.body) return answer;
	fleet.deviceIds[n] = answer.body.device_id;
	if (roleOf(n) === "cloned") await door.heartbeat(key, copyOf(machine));
	return answer;
}
