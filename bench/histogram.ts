/** Buckets to a power of two: a recorded value is known to 1/64, that is 1.6 %. */
const FINENESS_BITS = 6;
const FINENESS = 1 << FINENESS_BITS;
/** 2^27 µs are 134 s. A longer latency counts as that long; `max` has its real value. */
const HIGHEST = 2 ** 27 - 1;

/**
 * Latencies in logarithmic buckets of microseconds: constant memory and no sorting,
 * so that recording a million of them costs the load generator nothing.
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
	 * Returns the latency that `share` (0 to 1) of the requests did not exceed, in ms; 0 without any.
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

/** Returns the bucket. Up to 64 µs it is one microsecond wide; then 32 buckets double the value. */
function bucketOf(us: number): number {
	const shift = Math.max(0, 32 - Math.clz32(us) - FINENESS_BITS);
	return shift * (FINENESS / 2) + (us >>> shift);
}

/** Returns the largest value of a bucket. */
function topOf(index: number): number {
	if (index < FINENESS) return index;
	const shift = Math.floor(index / (FINENESS / 2)) - 1;
	const first = index - shift * (FINENESS / 2);
	return (first + 1) * 2 ** shift - 1;
}
