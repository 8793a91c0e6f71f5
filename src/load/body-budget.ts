import { MAX_CSV_BYTES } from "../csv/import-limits.ts";

const MIB = 1 << 20;

/** Memory for a request body that is arriving. */
export interface BodyRoom {
	/** Takes `bytes`. Returns false if that many are not free. */
	take(bytes: number): boolean;
	give(bytes: number): void;
}

/**
 * Limits the memory for the unfinished request bodies of a group of senders. Without this limit, a
 * few thousand half-sent requests could fill the memory of the process.
 */
export class BodyBudget implements BodyRoom {
	#freeBytes: number;

	constructor(maxBytes: number) {
		this.#freeBytes = maxBytes;
	}

	take(bytes: number): boolean {
		if (bytes > this.#freeBytes) return false;
		this.#freeBytes -= bytes;
		return true;
	}

	give(bytes: number): void {
		this.#freeBytes += bytes;
	}
}

/** A budget of many senders. Each of them may take only a part of it. */
export class SharedBodyBudget {
	readonly #all: BodyBudget;
	readonly #maxBytesOfOne: number;
	readonly #taken = new Map<string, number>();

	constructor(maxBytes: number, maxBytesOfOne: number) {
		this.#all = new BodyBudget(maxBytes);
		this.#maxBytesOfOne = maxBytesOfOne;
	}

	/** Returns the part of `sender`. */
	of(sender: string): BodyRoom {
		const add = (bytes: number) => {
			const taken = (this.#taken.get(sender) ?? 0) + bytes;
			if (taken > 0) this.#taken.set(sender, taken);
			else this.#taken.delete(sender);
		};
		return {
			take: (bytes) => {
				const taken = (this.#taken.get(sender) ?? 0) + bytes;
				if (taken > this.#maxBytesOfOne || !this.#all.take(bytes)) return false;
				add(bytes);
				return true;
			},
			give: (bytes) => {
				this.#all.give(bytes);
				add(-bytes);
			},
		};
	}
}

/** A room whose bytes stay taken after they have arrived, until `release`. */
export interface HeldRoom extends BodyRoom {
	release(): void;
}

/** Returns a room for bytes that are still needed after the whole body has arrived. */
export function holdRoom(room: BodyRoom): HeldRoom {
	let taken = 0;
	return {
		take: (bytes) => {
			if (!room.take(bytes)) return false;
			taken += bytes;
			return true;
		},
		give: () => {},
		release: () => {
			room.give(taken);
			taken = 0;
		},
	};
}

/**
 * Budget of routes whose credential is in the body, such as sign-in and enrollment. Each body has
 * at most 16 KiB, and the answer of a SAML provider 256 KiB. A sender is a network, so a single one
 * cannot keep all others out.
 */
export const STRANGERS_BODIES = new SharedBodyBudget(16 * MIB, 4 * MIB);

/**
 * Budget of requests with a well-formed device key. Anybody can make such a key, and only the
 * database can tell whether a device has it.
 */
export const WELL_FORMED_KEYS_BODIES = new BodyBudget(64 * MIB);

/**
 * Budget of devices whose key was looked up, because strangers may have filled the other budget. A
 * device sends one report of at most 1 MiB at a time.
 */
export const DEVICES_BODIES = new SharedBodyBudget(64 * MIB, 2 * MIB);

/**
 * Budget of CSV files that arrive, wait for their turn, or are parsed. A user imports one file at a
 * time.
 */
export const IMPORT_BODIES = new SharedBodyBudget(96 * MIB, MAX_CSV_BYTES);

/** Budget of signed-in users. A body of theirs has at most 1 MiB. */
export const USERS_BODIES = new SharedBodyBudget(64 * MIB, 8 * MIB);
