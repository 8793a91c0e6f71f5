/**
 * Returns a number from 0 (inclusive) to 1 (exclusive) that depends only on `keys`, which are whole
 * numbers. The same keys always give the same number. Everything about a simulated device can thus
 * be computed when it is needed, and nothing is stored.
 */
export function chance(...keys: number[]): number {
	let hash = 0x9e3779b9;
	for (const key of keys) {
		hash = mix(hash ^ (key >>> 0));
		// The upper bits count too, because numbers of periods and seeds may have more than 32 bits.
		hash = mix(hash ^ Math.floor(key / 2 ** 32));
	}
	return hash / 2 ** 32;
}

/** Returns a whole number between `least` and `most`, inclusive. */
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

/**
 * Returns one of `items`. Items with a larger weight are more likely. `at` is a number from
 * `chance`.
 */
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
	if (!last) throw new Error("a weighted choice needs at least one item");
	return last;
}

/**
 * Mixes the bits with the finalizer of MurmurHash3, so that every bit of the input affects every
 * bit of the result.
 */
function mix(value: number): number {
	let hash = value;
	hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return (hash ^ (hash >>> 16)) >>> 0;
}

/** Keys that make random decisions about the same device independent of each other. */
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
