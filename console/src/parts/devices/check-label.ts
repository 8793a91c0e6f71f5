import {
	CANONICAL_CHECKS,
	isCanonicalCheck,
} from "../../../../src/devices/terms.ts";

/**
 * Returns the name of a check, or its key if the check is not canonical and only its agent knows
 * it.
 */
export function checkLabel(key: string): string {
	return isCanonicalCheck(key) ? CANONICAL_CHECKS[key].name : key;
}
