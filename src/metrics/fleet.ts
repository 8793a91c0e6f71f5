import type { Pool } from "pg";
import { DEVICE_STATUSES, FRESHNESSES } from "../devices/device-record.ts";

export interface FleetCount {
	status: string;
	freshness: string;
	devices: number;
}

/** A number that is gone says nothing, a zero sets off an alert: what no device is counts as 0. */
const NONE = DEVICE_STATUSES.flatMap((status) =>
	FRESHNESSES.map((freshness) => ({ status, freshness, devices: 0 })),
);

/** Counting reads every device. */
const MAX_AGE_MS = 5 * 60_000;

/**
 * How many devices there are by status and freshness. Counted at most every five minutes, by one
 * at a time; while the database cannot say, there are no numbers instead of old ones.
 */
export class FleetCounts {
	readonly #pool: Pool;
	#counts: Promise<FleetCount[]> | undefined;
	#countedAtMs = 0;

	constructor(pool: Pool) {
		this.#pool = pool;
	}

	read(): Promise<FleetCount[]> {
		if (!this.#counts || Date.now() - this.#countedAtMs > MAX_AGE_MS) {
			this.#countedAtMs = Date.now();
			this.#counts = this.#pool
				.query<FleetCount>(
					"select status, freshness, devices::float8 as devices from count_devices()",
				)
				.then(
					({ rows }) => [...NONE, ...rows],
					() => {
						this.#counts = undefined;
						return [];
					},
				);
		}
		return this.#counts;
	}
}
