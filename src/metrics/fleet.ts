import type { Pool } from "pg";
import { CHECK_STATES, COMPLIANCES } from "../devices/check-states.ts";
import { DEVICE_STATUSES, FRESHNESSES } from "../devices/device-record.ts";
import { CHECK_KEYS } from "../devices/terms.ts";
import type { DatabaseReads } from "./database-reads.ts";

export interface FleetCount {
	status: string;
	freshness: string;
	devices: number;
}

export interface StateCount {
	/** Null for the state of a device as a whole. */
	check_key: string | null;
	state: string;
	devices: number;
}

export interface KeyCount {
	usable: number;
	running_out: number;
	/** Keys that ended in the last 14 days. */
	ended: number;
	awaiting_approval: number;
}

/**
 * A zero for every combination of status and freshness. An alert can react to a zero, but not to a
 * series that disappears.
 */
const NONE = DEVICE_STATUSES.flatMap((status) =>
	FRESHNESSES.map((freshness) => ({ status, freshness, devices: 0 })),
);

/** The same for the states of devices, as a whole and for each canonical check. */
const NO_STATES: StateCount[] = [
	...COMPLIANCES.map((state) => ({ check_key: null, state, devices: 0 })),
	...CHECK_KEYS.flatMap((check_key) =>
		CHECK_STATES.map((state) => ({ check_key, state, devices: 0 })),
	),
];

/**
 * Greatest ages of the counts. The first reads every device, and the second also a span of each
 * device, so neither must happen often.
 */
const MAX_AGE_MS = {
	devices: 5 * 60_000,
	notReporting: 15 * 60_000,
	// Read from counts that exist, a row for each organization.
	states: 60_000,
} as const;

/**
 * Counts the devices of all organizations. A count runs only if the last one is too old, and never
 * two at a time. There are no numbers if they could not be read.
 */
export class FleetCounts {
	/** Counts devices by status and freshness. */
	readonly devices: () => Promise<FleetCount[]>;
	/** Counts devices that send heartbeats but no reports. */
	readonly notReporting: () => Promise<number[]>;
	/** Reads how many devices are in each state. The service counts them in the background. */
	readonly states: () => Promise<StateCount[]>;
	/** Counts enrollment keys, and devices that wait for approval. */
	readonly enrollmentKeys: () => Promise<KeyCount[]>;

	constructor(reads: DatabaseReads) {
		const counted = <Count>(
			of: string,
			maxAgeMs: number,
			count: (pool: Pool) => Promise<Count[]>,
		) => {
			const read = cached(maxAgeMs, count);
			return async () => (await reads.read(of, read)) ?? [];
		};
		this.devices = counted("devices", MAX_AGE_MS.devices, async (pool) => {
			const { rows } = await pool.query<FleetCount>(
				"select status, freshness, devices::float8 as devices from count_devices()",
			);
			return [...NONE, ...rows];
		});
		this.notReporting = counted(
			"devices_not_reporting",
			MAX_AGE_MS.notReporting,
			async (pool) => {
				const { rows } = await pool.query<{ devices: number }>(
					"select count_devices_not_reporting()::float8 as devices",
				);
				return rows.map(({ devices }) => devices);
			},
		);
		this.states = counted("device_states", MAX_AGE_MS.states, async (pool) => {
			const { rows } = await pool.query<StateCount>(
				"select check_key, state, devices::float8 as devices from count_check_states()",
			);
			return [...NO_STATES, ...rows];
		});
		this.enrollmentKeys = counted(
			"enrollment_keys",
			MAX_AGE_MS.devices,
			async (pool) => {
				const { rows } = await pool.query<KeyCount>(
					"select usable::float8, running_out::float8, ended::float8, awaiting_approval::float8 from count_enrollment_key_states()",
				);
				return rows;
			},
		);
	}
}

function cached<Count>(
	maxAgeMs: number,
	read: (pool: Pool) => Promise<Count[]>,
): (pool: Pool) => Promise<Count[]> {
	let counts: Promise<Count[]> | undefined;
	let countedAtMs = 0;
	return (pool) => {
		if (!counts || Date.now() - countedAtMs > maxAgeMs) {
			countedAtMs = Date.now();
			counts = read(pool).catch((error) => {
				counts = undefined;
				throw error;
			});
		}
		return counts;
	};
}
