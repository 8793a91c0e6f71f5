import { createHash } from "node:crypto";
import type { HeartbeatRequest } from "../src/devices/wire.ts";
import { chance, pick, TOPIC } from "./random.ts";
import {
	AGENT_VERSIONS,
	SYSTEMS,
	type System,
	type Version,
} from "./systems.ts";

/** A simulated device. Everything about it is computed from the seed and its number. */
export interface Machine {
	/** The number of the device in the fleet, beginning with 0. */
	n: number;
	system: System;
	version: Version;
	facts: HeartbeatRequest;
	/** False if the agent was installed without the rights of an administrator. */
	isPrivileged: boolean;
}

const UNPRIVILEGED_SHARE = 0.04;

export function machineOf(seed: number, n: number): Machine {
	const system = pick(SYSTEMS, chance(seed, n, TOPIC.SYSTEM));
	const version = pick(system.versions, chance(seed, n, TOPIC.VERSION));
	const digest = createHash("sha256").update(`${seed} ${n}`).digest();
	return {
		n,
		system,
		version,
		facts: {
			hardware_uuid: hardwareUuid(digest, system),
			serial_number: serialNumber(digest, system),
			hostname: hostname(n, system),
			platform: system.platform,
			os_version: version.name,
			agent_version: pick(AGENT_VERSIONS, chance(seed, n, TOPIC.AGENT)).name,
		},
		isPrivileged: chance(seed, n, TOPIC.RIGHTS) >= UNPRIVILEGED_SHARE,
	};
}

/**
 * Returns the UUID in the format of the platform's firmware, which is in capitals on macOS and
 * Windows.
 */
function hardwareUuid(digest: Buffer, { platform }: System): string {
	const bytes = Buffer.from(digest.subarray(0, 16));
	bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
	bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
	const uuid = bytes
		.toString("hex")
		.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
	return platform === "DARWIN" || platform === "WINDOWS"
		? uuid.toUpperCase()
		: uuid;
}

const SERIAL_LETTERS = "0123456789CDFGHJKLMNPQRTVWXY";

function serialNumber(digest: Buffer, system: System): string | undefined {
	if (system.serialLength === 0) return undefined;
	return Array.from(
		digest.subarray(16, 16 + system.serialLength),
		(byte) => SERIAL_LETTERS[byte % SERIAL_LETTERS.length],
	).join("");
}

function hostname(n: number, { prefix, domain }: System): string {
	return `${prefix}-${String(n + 1).padStart(4, "0")}${domain}`;
}
