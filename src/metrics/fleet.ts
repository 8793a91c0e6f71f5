import type { Pool } from "pg";

interface Count {
	status: string;
	freshness: string;
	/** A bigint, as text. */
	devices: string;
}

/** Counting reads every device. */
const MAX_AGE_MS = 5 * 60_000;

/**
 * How many devices there are by status and freshness. Counted at most every five minutes, by one
 * at a time; while the database cannot say, there are no numbers instead of old ones.
 */
export class FleetCounts {
	readonly #pool: Pool;
	#counts: Promise<Count[]> | undefined;
	#countedAtMs = 0;

	constructor(pool: Pool) {
		this.#pool = pool;
	}

	read(): Promise<Count[]> {
		if (!this.#counts || Date.now() - this.#countedAtMs > MAX_AGE_MS) {
			this.#countedAtMs = Date.now();
			this.#counts = this.#pool
				.query<Count>("select status, freshness, devices from count_devices()")
				.then(
					({ rows }) => rows,
					() => {
						this.#counts = undefined;
						return [];
					},
				);
		}
		return this.#counts;
	}
}
