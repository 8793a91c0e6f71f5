import {
	CANONICAL_CHECKS,
	CHECK_KEYS,
	isCanonicalCheck,
} from "../../../../src/devices/terms.ts";

/** Returns what people call a check, or its key if only its agent knows it. */
export function checkLabel(key: string): string {
	return isCanonicalCheck(key) ? CANONICAL_CHECKS[key].name : key;
}

/** Returns what a pass of the check means, as a sentence. */
export function passMeaning(key: string): string {
	return isCanonicalCheck(key)
		? CANONICAL_CHECKS[key].passMeans
		: "A check that only this device's agent knows.";
}

/** Returns the canonical checks in their order, then the others by name. */
export function inOrder(keys: Iterable<string>): string[] {
	const others = [...new Set(keys)].filter((key) => !isCanonicalCheck(key));
	return [...CHECK_KEYS, ...others.sort()];
}
