/** Sets the precision. A recorded value is known to 1/64, which is 1.6 %. */
const FINENESS_BITS = 6;
const FINENESS = 1 << FINENESS_BITS;
/**
 * The highest value, in µs: 2^27 µs are 134 s. A longer latency counts as this one, but `max` keeps
 * its real value.
 */
const HIGHEST = 2 ** 27 - 1;

/**
 * Counts latencies in buckets of microseconds whose width grows with the value. It uses constant
 * memory and does not sort, so the load generator can record a million latencies at almost no cost.
 */
export class Histogram {
	readonly #counts = new Uint32Array(FINENESS * (27 - FINENESS_BITS + 1));
	#total = 0;
	#maxUs = 0;

	get total(): number {
		return this.#total;
	}

	get maxMs(): number {
		return this.#maxUs / 1000;
	}

	recordMs(ms: number): void {
		const us = Math.max(0, Math.round(ms * 1000));
		const index = bucketOf(Math.min(us, HIGHEST));
		this.#counts[index] = (this.#counts[index] ?? 0) + 1;
		this.#total++;
		if (us > this.#maxUs) this.#maxUs = us;
	}

	/**
	 * Returns the latency in ms that `share` (0 to 1) of the requests did not exceed. Returns 0 if
	 * there were no requests.
	 */
	quantileMs(share: number): number {
		let left = Math.ceil(this.#total * share);
		if (left === 0) return 0;
		for (const [index, count] of this.#counts.entries()) {
			left -= count;
			if (left <= 0) return Math.min(topOf(index), this.#maxUs) / 1000;
		}
		return this.maxMs;
	}

	clear(): void {
		this.#counts.fill(0);
		this.#total = 0;
		this.#maxUs = 0;
	}
}

/**
 * Returns the bucket of a value. Up to 64 µs each bucket is one microsecond wide. Above, there are
 * 32 buckets between a value and its double.
 */
function bucketOf(us: number): number {
	const shift = Math.max(0, 32 - Math.clz32(us) - FINENESS_BITS);
	return shift * (FINENESS / 2) + (us >>> shift);
}

/** Returns the largest value that belongs to a bucket. */
function topOf(index: number): number {
	if (index < FINENESS) return index;
	const shift = Math.floor(index / (FINENESS / 2)) - 1;
	const first = index - shift * (FINENESS / 2);
	return (first + 1) * 2 ** shift - 1;
}
