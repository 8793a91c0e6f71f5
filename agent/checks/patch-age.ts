import { DAY_MS } from "../../src/units.ts";
import type { Host } from "../host.ts";
import type { Waiting } from "../pending-updates.ts";
import { type CheckOutcome, fail, unknown } from "./check.ts";

/** The age of a device's patches. A value that the device does not report is undefined. */
export interface PatchAge {
	/** Days for which an available update has not been installed. */
	pendingDays?: number | undefined;
	/** Days since the device last searched for updates with success. */
	searchDays?: number | undefined;
	/** Days since the device last installed an update. */
	installDays?: number | undefined;
}

/** Returns the whole days since a time, or undefined if it is unknown or in the future. */
export function daysSince(
	time: number | undefined,
	now: Date,
): number | undefined {
	if (time === undefined || Number.isNaN(time)) return undefined;
	const days = Math.floor((now.getTime() - time) / DAY_MS);
	return days >= 0 ? days : undefined;
}

/** Adds the number of security updates that wait to an outcome. */
export const withPending = (
	outcome: CheckOutcome,
	waiting: Waiting | undefined,
): CheckOutcome =>
	waiting === undefined
		? outcome
		: {
				...outcome,
				evidence: { ...outcome.evidence, pending_updates: waiting.count },
			};

/**
 * Adds the age of the patches to the outcome about the mechanism that installs updates. The outcome
 * is FAIL if an available update has waited for more days than the threshold, or if no search has
 * succeeded for that long. It is also FAIL if nothing was installed for that long although the
 * system's maker releases updates every month. If none of these is known, a working mechanism alone
 * does not pass. If the mechanism does not pass, its outcome is returned unchanged.
 */
export function judgePatchAge(
	host: Pick<Host, "threshold">,
	outcome: CheckOutcome,
	age: PatchAge,
): CheckOutcome {
	if (outcome.status !== "PASS") return outcome;
	const maxDays = host.threshold("max_patch_age_days");
	const known = {
		pending_update_days: age.pendingDays,
		last_search_days: age.searchDays,
		last_update_days: age.installDays,
	};
	const told = Object.entries(known).filter(([, days]) => days !== undefined);
	const evidence = { ...outcome.evidence, ...Object.fromEntries(told) };
	const overdue = told.find(([, days]) => days !== undefined && days > maxDays);
	if (overdue) {
		return fail({ ...evidence, patches_current: false, overdue: overdue[0] });
	}
	return told.length === 0
		? unknown("patch_age_not_known", evidence)
		: { status: "PASS", evidence };
}
