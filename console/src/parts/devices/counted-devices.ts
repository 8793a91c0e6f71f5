import type { OutputOf } from "../../api.ts";
import type { ListSearch } from "../../list-search.ts";
import { isRequired } from "./states-in-words.tsx";

type Check = OutputOf<"listPostureSummary">["checks"][number];

/**
 * Returns the filter for devices that are counted as passing, failing or unknown for a check that
 * the policy does not require. Devices that are stale or have not reported are counted separately.
 * The heartbeats of a past day are not known.
 */
export function countedDevices(day: string | undefined): ListSearch {
	if (day) return { status: "ACTIVE" };
	return { status: "ACTIVE", freshness: "ONLINE", reporting: "REPORTING" };
}

/**
 * Returns the number of devices that fail the check, in words, and the filter that lists exactly
 * these devices. For a check that the policy requires, both are by the policy: a device that is
 * silent for less time than it permits still fails, and one with an exception does not.
 */
export function failingDevices(check: Check, day: string | undefined) {
	const { check_key, states } = check;
	if (!isRequired(check)) {
		return {
			words: `${check.fail.toLocaleString()} fail`,
			search: { ...countedDevices(day), failing_check: check_key },
		};
	}
	const { FAILING, IN_GRACE, EXCEPTED } = states;
	const count = FAILING + IN_GRACE;
	const parts = [`${count.toLocaleString()} fail`];
	if (EXCEPTED > 0) parts.push(`${EXCEPTED.toLocaleString()} excepted`);
	return {
		words: parts.join(", "),
		// With no failing device, the only ones to look at are those that an exception excuses.
		search:
			count === 0 && EXCEPTED > 0
				? { status: "ACTIVE", check_state: "EXCEPTED", check: check_key }
				: failingIn(check_key, ["IN_GRACE", "FAILING"]),
	};
}

/** Returns the filter for devices that fail the check without being silent by the policy. */
export const notSilent = ({ check_key }: Check) =>
	failingIn(check_key, ["IN_GRACE", "FAILING", "EXCEPTED"]);

const failingIn = (
	key: string,
	states: (keyof Check["states"])[],
): ListSearch => ({
	status: "ACTIVE",
	failing_check: key,
	check: key,
	check_state: states,
});
