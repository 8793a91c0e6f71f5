const MIB = 1 << 20;

/**
 * Limits the bytes of request bodies that have arrived in part and whose sender is not known yet.
 * Without it, a few thousand half-sent requests could fill the memory of the process.
 */
export class BodyBudget {
	#freeBytes: number;

	constructor(maxBytes: number) {
		this.#freeBytes = maxBytes;
	}

	/** Takes `bytes` from the budget; false when that many are not free. */
	take(bytes: number): boolean {
		if (bytes > this.#freeBytes) return false;
		this.#freeBytes -= bytes;
		return true;
	}

	give(bytes: number): void {
		this.#freeBytes += bytes;
	}
}

/** For routes whose credential is in the body, such as sign-in and enroll: at most 16 KiB each. */
export const STRANGERS_BODIES = new BodyBudget(16 * MIB);

/** For requests with a well-formed device key, which only the database can tell from a real one. */
export const DEVICES_BODIES = new BodyBudget(64 * MIB);
