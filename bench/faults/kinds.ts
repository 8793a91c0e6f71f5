import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Writers } from "../failover/writers.ts";
import type { OwnService } from "../own-service.ts";
import type { FaultyDoor } from "./faulty-door.ts";
import type { Stand } from "./stand.ts";

/** A fault that breaks something and repairs it while the load continues. */
export interface Fault {
	name: string;
	/** True if the fault is part of the short form. */
	isShort?: true;
	/** Causes the fault. Resolves when everything that an operator could repair is repaired. */
	run: (bench: Bench) => Promise<void>;
}

export interface Bench {
	stand: Stand;
	writers: Writers;
	/** The proxy between the service and its database. Set only if the fault needs it. */
	door?: FaultyDoor;
	/** The second service. Set only if the fault needs two. */
	second?: OwnService;
}

const SECOND = 1_000;
const YEAR = 365 * 86_400 * SECOND;

/** Returns the faults that affect one service or its own database. */
export function directFaults(isShort: boolean): Fault[] {
	const stopped = isShort ? 5 : 60;
	return [
		{ name: "none", run: () => sleep(10 * SECOND) },
		{
			name: "service killed (kill -9), started again",
			isShort: true,
			run: async ({ stand: { service } }) => {
				await service.kill();
				await service.start();
			},
		},
		{
			name: "PostgreSQL killed (kill -9 of all its processes), started again",
			isShort: true,
			run: async ({ stand: { postgres } }) => {
				await postgres.kill();
				await postgres.start();
			},
		},
		{
			name: `PostgreSQL stopped for ${stopped} s`,
			isShort: true,
			run: async ({ stand: { postgres } }) => {
				await postgres.stop();
				await sleep(stopped * SECOND);
				await postgres.start();
			},
		},
		{
			name: "all connections to PostgreSQL cut",
			isShort: true,
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
			run: ({ writers }) =>
				withClocks(writers, () => -3_600_000 - Math.random() * 10 * YEAR),
		},
		{
			name: "devices' clocks up to ten years ahead",
			run: ({ writers }) =>
				withClocks(writers, () => 600_000 + Math.random() * 10 * YEAR),
		},
	];
}

async function withClocks(writers: Writers, errorMs: () => number) {
	writers.clockErrorMs = errorMs;
	await sleep(8 * SECOND);
	writers.clockErrorMs = () => 0;
}

/** The faults of the network between a service and its database. */
export const NETWORK_FAULTS: Fault[] = (["late", "forgotten"] as const).map(
	(how) => ({
		name: `network to PostgreSQL silent for 20 s, ${how === "late" ? "then all arrives late" : "old connections dead forever"}`,
		run: async ({ door }) => {
			door?.freeze();
			await sleep(20 * SECOND);
			door?.thaw(how);
		},
	}),
);

export function oneOfTwoKilled(isShort: boolean): Fault {
	return {
		name: "one of two services behind a proxy killed (kill -9)",
		isShort: true,
		run: async ({ second }) => {
			await second?.kill();
			await sleep((isShort ? 2 : 10) * SECOND);
			await second?.start();
		},
	};
}

/**
 * Freezes a service for longer than a transaction may be idle. PostgreSQL therefore releases the
 * locks of the frozen service in the meantime.
 */
export const ONE_OF_TWO_FROZEN: Fault = {
	name: "one of two services behind a proxy frozen for 30 s (kill -STOP)",
	run: async ({ second }) => {
		second?.freeze();
		await sleep(30 * SECOND);
		second?.thaw();
	},
};

/** Fills the file system at `mount`, which holds the database of the stand. */
export function fullDisk(mount: string, mib: number): Fault {
	return {
		name: `disk of PostgreSQL (a tmpfs of ${mib} MiB) full for 20 s`,
		run: async ({ stand: { postgres } }) => {
			const filler = join(mount, "filler");
			// The loop fills the disk again and again, because PostgreSQL frees some space now and then.
			const until = performance.now() + 20 * SECOND;
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
			// PostgreSQL ends if it cannot even write its log, and is then started again.
			if (postgres.pid === undefined) await postgres.start();
		},
	};
}
