import { readFileSync, writeFileSync } from "node:fs";
import { makeSecret } from "../src/access/token.ts";
import type { Platform } from "../src/devices/terms.ts";
import { makeId, makeOrganizationId } from "../src/id.ts";

/** The devices of a run: everything else about one follows from its index. */
export interface Fleet {
	organizations: string[];
	/** The key of each device, and its id. */
	keys: string[];
	ids: string[];
}

/** `count` new devices, dealt out to `organizations` in turn. */
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

/** Hands the fleet to the load generator, which is another process. */
export function writeFleet(file: string, fleet: Fleet): void {
	writeFileSync(file, JSON.stringify(fleet), { mode: 0o600 });
}

export function readFleet(file: string): Fleet {
	return JSON.parse(readFileSync(file, "utf8"));
}

interface System {
	platform: Platform;
	osVersion: string;
	name: string;
}

const SYSTEMS: System[] = [
	{ platform: "DARWIN", osVersion: "macOS 26.1 (25B78)", name: "macbook" },
	{ platform: "WINDOWS", osVersion: "Windows 11 Pro 25H2", name: "desktop" },
	{ platform: "LINUX", osVersion: "Ubuntu 24.04.3 LTS", name: "thinkpad" },
	{ platform: "DARWIN", osVersion: "macOS 15.7.2 (24G325)", name: "mini" },
];

export interface Facts {
	hardware_uuid: string;
	serial_number: string;
	hostname: string;
	platform: Platform;
	os_version: string;
	agent_version: string;
}

/** What a device says of itself in every heartbeat. */
export function factsOf(device: number): Facts {
	const system = SYSTEMS[device % SYSTEMS.length] as System;
	const number = device.toString(16).toUpperCase().padStart(8, "0");
	return {
		hardware_uuid: `${number}-5F2A-4C1D-9B7E-${number}A0C4`,
		serial_number: `C02${number}`,
		hostname: `${system.name}-${device}.corp.example.com`,
		platform: system.platform,
		os_version: system.osVersion,
		agent_version: "1.4.2",
	};
}

/**
 * Walks the devices in random orders, none twice before all had their turn. They report
 * again in another order than the first time, which laid them out in the table: in the
 * field neighbours do not report together, and updating them at once fills their page.
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

	/** Undefined when all have. */
	nextToReportFirst(): number | undefined {
		return this.#first[this.#firstReport++];
	}

	nextToReportAgain(): number {
		return this.#again[this.#report++ % this.#again.length] as number;
	}
}

/** The indexes from 0 to `count` in random order. */
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
