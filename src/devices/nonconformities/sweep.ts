import type { Steps } from "../steps.ts";

/**
 * How far the upkeep has come in an organization: first through the devices of its nonconformities,
 * then through its failures. A step looks at the next ones only, so it takes no longer in a large
 * fleet than in a small one.
 */
export interface Sweep extends Steps {
	/** The last place that was looked at. Undefined if all were. */
	place: string | undefined;
	/** The last failure that was looked at. */
	check: string;
	device: string;
}

export const SWEEP_START: Sweep = {
	size: 2_000,
	place: "0",
	check: "",
	device: "",
	isMore: false,
};
