import { percentOf } from "../units.ts";
import { CHECK_STATES, type CheckState } from "./check-states.ts";
import type { FleetCounts } from "./count-states.ts";

/**
 * The states that a pass rate counts. An exception takes a device out of the comparison. A grace
 * does not: the device fails. Missing data never counts as passing.
 */
export const JUDGED = CHECK_STATES.filter(
	(state) => state !== "EXCEPTED" && state !== "NOT_APPLICABLE",
);

/** Numbers of ACTIVE devices by their state for a check. A missing state has none. */
export type CountsByState = Partial<Record<CheckState, number>>;

/**
 * Returns the pass rate: the share of PASSING in the JUDGED states of one check, or of several
 * checks together. Null: no state is judged. Home, the reports, the trends and the tools all show
 * this figure.
 */
export function passPercent(checks: Iterable<CountsByState>): number | null {
	let [passing, judged] = [0, 0];
	for (const counts of checks) {
		passing += counts.PASSING ?? 0;
		for (const state of JUDGED) judged += counts[state] ?? 0;
	}
	return percentOf(passing, judged);
}

/** Returns the pass rate of a fleet: that of all checks that the policy requires. */
export const fleetPassPercent = ({
	requiredChecks,
	ofCheck,
}: FleetCounts): number | null => passPercent(requiredChecks.map(ofCheck));
