import type { Reason } from "../../src/devices/remediation/reasons.ts";
import type {
	CheckKey,
	Evidence,
	PostureStatus,
} from "../../src/devices/terms.ts";
import type { Host } from "../host.ts";

export interface CheckOutcome {
	status: PostureStatus;
	evidence: Evidence;
}

/**
 * Checks one property of the device. A status that cannot be determined is UNKNOWN, never FAIL and
 * never PASS. A check that throws or times out is therefore reported as UNKNOWN.
 *
 * Evidence has few, short, machine-readable fields: booleans, numbers, our own words and the texts
 * that `word` accepts. It never contains a line of output, a path, the name of a user or host, or
 * any other text from the device.
 */
export type Check = (host: Host) => Promise<CheckOutcome>;

/**
 * The checks that the agent has for one platform. `runChecks` reports the other checks as not
 * checked.
 */
export type PlatformChecks = Partial<Record<CheckKey, Check>>;

export const pass = (evidence: Evidence): CheckOutcome => ({
	status: "PASS",
	evidence,
});

export const fail = (evidence: Evidence): CheckOutcome => ({
	status: "FAIL",
	evidence,
});

/** Makes the outcome UNKNOWN. A new reason needs a text in `REASONS`. */
export const unknown = (
	reason: Reason,
	evidence: Evidence = {},
): CheckOutcome => ({ status: "UNKNOWN", evidence: { reason, ...evidence } });

/** Makes the outcome NOT_APPLICABLE. A new reason needs a text in `REASONS`. */
export const notApplicable = (
	reason: Reason,
	evidence: Evidence = {},
): CheckOutcome => ({
	status: "NOT_APPLICABLE",
	evidence: { reason, ...evidence },
});

/**
 * Returns `text` if it is a short name or version that evidence may contain, such as "24.04",
 * "aes-xts" or "org.freedesktop". Returns undefined for any other text.
 */
export function word(text: string | undefined): string | undefined {
	return text !== undefined && /^[A-Za-z0-9][A-Za-z0-9._+~:-]{0,63}$/.test(text)
		? text
		: undefined;
}
