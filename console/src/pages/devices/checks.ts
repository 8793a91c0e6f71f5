import {
	CANONICAL_CHECKS,
	CHECK_KEYS,
	isCanonicalCheck,
} from "../../../../src/devices/terms.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";

export { checkLabel };

/** Returns a sentence that says what the check requires. It stands beside each status. */
export function requirementOf(key: string): string {
	return isCanonicalCheck(key)
		? `Required: ${CANONICAL_CHECKS[key].passMeans}`
		: "A check that only this device's agent knows.";
}

/**
 * Returns the canonical checks in their usual order, followed by the others in the order of their
 * names.
 */
export function inOrder(keys: Iterable<string>): string[] {
	const others = [...new Set(keys)].filter((key) => !isCanonicalCheck(key));
	return [...CHECK_KEYS, ...others.sort()];
}

const CHECK_FILTERS = [
	"failing_check",
	"unknown_check",
	"not_passing_check",
	"passing_check",
	"check",
];

/** Returns the check by which a list is filtered. */
export function checkOf(filters: Record<string, unknown>): string | undefined {
	const value = CHECK_FILTERS.map((name) => filters[name]).find(Boolean);
	return typeof value === "string" ? value : undefined;
}
