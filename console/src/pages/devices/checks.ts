import {
	CANONICAL_CHECKS,
	CHECK_KEYS,
	isCanonicalCheck,
} from "../../../../src/devices/terms.ts";

/**
 * Returns the name of a check, or its key if the check is not canonical and only its agent knows
 * it.
 */
export function checkLabel(key: string): string {
	return isCanonicalCheck(key) ? CANONICAL_CHECKS[key].name : key;
}

/** Returns a sentence that says what it means when the check passes. */
export function passMeaning(key: string): string {
	return isCanonicalCheck(key)
		? CANONICAL_CHECKS[key].passMeans
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
