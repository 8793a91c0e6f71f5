import type { Pool } from "pg";
import { DEVICE_STATUSES, FRESHNESSES } from "../devices/device-record.ts";

export interface FleetCount {
	status: string;
	freshness: string;
	devices: number;
}

/**
 * A zero for every combination of status and freshness. An alert can react to a zero, but not to a
 * series that disappears.
 */
const NONE = DEVICE_STATUSES.flatMap((status) =>
	FRESHNESSES.map((freshness) => ({ status, freshness, devices: 0 })),
);

/** Greatest age of a count. Counting reads every device, so it must not happen often. */
const MAX_AGE_MS = 5 * 60_000;

/**
 * Counts devices by status and freshness. A count runs at most every five minutes, and never two at
 * a time. While the database does not answer, there are no numbers instead of old ones.
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
