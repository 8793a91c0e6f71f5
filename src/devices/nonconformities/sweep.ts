/**
 * How far the upkeep has come in an organization: first through the devices of its nonconformities,
 * then through its failures. A step looks at the next ones only, so it takes no longer in a large
 * fleet than in a small one.
 */
export interface Sweep {
	/** Most places, or failures, that a step looks at. */
	size: number;
	/** The last place that was looked at. Undefined if all were. */
	place: string | undefined;
	/** The last failure that was looked at. */
	check: string;
	device: string;
	/** True if the last step found more nonconformities to open than a step may open. */
	isOpening: boolean;
}

export const SWEEP_START: Sweep = {
	size: 2_000,
	place: "0",
	check: "",
	device: "",
	isOpening: false,
};

const SMALLEST = 50;

/**
 * Returns a sweep that goes on with smaller steps, after a step took too long. Returns undefined if
 * the steps are as small as they may be.
 */
export function withSmallerSteps(sweep: Sweep): Sweep | undefined {
	if (sweep.size <= SMALLEST) return undefined;
	return { ...sweep, size: Math.max(SMALLEST, Math.floor(sweep.size / 4)) };
}
