const MIB = 1 << 20;

/**
 * Limits the memory of request bodies that have arrived in part and whose sender is not known yet.
 * Without this limit, a few thousand half-sent requests could fill the memory of the process.
 */
export class BodyBudget {
	#freeBytes: number;

	constructor(maxBytes: number) {
		this.#freeBytes = maxBytes;
	}

	/** Takes `bytes` from the budget. Returns false if that many are not free. */
	take(bytes: number): boolean {
		if (bytes > this.#freeBytes) return false;
		this.#freeBytes -= bytes;
		return true;
	}

	give(bytes: number): void {
		this.#freeBytes += bytes;
	}
}

/**
 * Budget of routes whose credential is in the body, such as sign-in and enrollment. Each body has
 * at most 16 KiB.
 */
export const STRANGERS_BODIES = new BodyBudget(16 * MIB);

/**
 * Budget of requests with a well-formed device key. Only the database can tell whether the key is a
 * real one.
 */
export const DEVICES_BODIES = new BodyBudget(64 * MIB);
