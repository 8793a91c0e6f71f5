/**
 * Returns a number from 0 up to 1 that follows from `keys`, which are whole numbers: the same keys
 * always give the same number. Everything about a simulated device is therefore computed when it is
 * needed, and nothing is stored.
 */
export function chance(...keys: number[]): number {
	let hash = 0x9e3779b9;
	for (const key of keys) {
		hash = mix(hash ^ (key >>> 0));
		// Window numbers and seeds may have more than 32 bits.
		hash = mix(hash ^ Math.floor(key / 2 ** 32));
	}
	return hash / 2 ** 32;
}

/** Returns a whole number from `least` to `most`. */
export function between(
	least: number,
	most: number,
	...keys: number[]
): number {
	return least + Math.floor(chance(...keys) * (most - least + 1));
}

export interface Weighted {
	weight: number;
}

/** Returns one of `items`, each with its weight. `at` is a number from `chance`. */
export function pick<Item extends Weighted>(
	items: readonly Item[],
	at: number,
): Item {
	const total = items.reduce((sum, { weight }) => sum + weight, 0);
	let left = at * total;
	for (const item of items) {
		left -= item.weight;
		if (left < 0) return item;
	}
	const last = items.at(-1);
	if (!last) throw new Error("there is nothing to pick from");
	return last;
}

/** The finalizer of MurmurHash3: every bit of the input reaches every bit of the result. */
function mix(value: number): number {
	let hash = value;
	hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return (hash ^ (hash >>> 16)) >>> 0;
}

/** Keys that keep random decisions about one device apart. */
export const TOPIC = {
	SYSTEM: 1,
	VERSION: 2,
	AGENT: 3,
	RIGHTS: 4,
	CHRONIC: 5,
	ONSET: 6,
	EPISODE: 7,
	FLIP: 8,
	VARIANT: 9,
	BREAK: 10,
	START: 11,
	PRESENT: 12,
} as const;
