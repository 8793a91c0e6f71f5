import { makeId } from "../src/id.ts";
import { type Machine, machineOf } from "./machine.ts";
import { resultsOf } from "./posture.ts";
import { originalOf, roleOf } from "./roles.ts";
import type { ServiceClient } from "./service-client.ts";

/**
 * A fleet of simulated devices. For each device, only the data that came from the service is
 * stored, about 100 bytes. Its facts and results are computed from the seed, its number and the
 * time.
 */
export interface Fleet {
	seed: number;
	/** The share of checks that change and change back within 20 minutes, as in Look. */
	drift: number;
	begun: number;
	/**
	 * The key of each device, by its number. Undefined if the device has no key or its key was
	 * rejected.
	 */
	keys: (string | undefined)[];
	/** The id of each device, by its number. It is known after the first heartbeat. */
	deviceIds: (string | undefined)[];
}

export function makeFleet(seed: number, drift: number): Fleet {
	return { seed, drift, begun: Date.now(), keys: [], deviceIds: [] };
}

/**
 * Returns the machine that the device claims to be. A duplicate claims the hardware of another
 * device.
 */
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

/** Returns the facts of another machine that uses the same key, as after its disk was copied. */
export function copyOf(machine: Machine): Machine["facts"] {
	const { facts } = machine;
	const last = facts.hardware_uuid.at(-1) === "0" ? "1" : "0";
	return {
		...facts,
		hardware_uuid: facts.hardware_uuid.slice(0, -1) + last,
		hostname: facts.hostname.replace(/(\.|$)/, "-copy$1"),
	};
}

/** Returns the current report of device `n` as its agent would write it. */
export function reportOf(fleet: Fleet, n: number): object[] {
	const at = Date.now();
	const observed_at = new Date(at).toISOString();
	const deviceId = fleet.deviceIds[n];
	const correlation_id = deviceId && makeId(deviceId, "device_posture_report");
	return resultsOf(machineOf(fleet.seed, n), { ...fleet, at }).map(
		(result) => ({ ...result, observed_at, correlation_id }),
	);
}

/**
 * Sends a heartbeat of device `n` or, now and then, of its copy. If the service rejects the key,
 * removes it.
 */
export async function beat(
	fleet: Fleet,
	client: ServiceClient,
	n: number,
): Promise<Awaited<ReturnType<ServiceClient["heartbeat"]>> | undefined> {
	const key = fleet.keys[n];
	if (key === undefined) return undefined;
	const machine = claimedMachine(fleet.seed, n);
	const answer = await client.heartbeat(key, machine.facts);
	if (answer.status === 401) fleet.keys[n] = undefined;
	if (!answer.body) return answer;
	fleet.deviceIds[n] = answer.body.device_id;
	if (roleOf(n) === "cloned") await client.heartbeat(key, copyOf(machine));
	return answer;
}
