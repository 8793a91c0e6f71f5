import { CANONICAL_CHECKS, isCanonicalCheck } from "../terms.ts";
import type { Explanation } from "./remediation.ts";

/**
 * Returns why a check has its status and how to fix it, as lines for a terminal. Returns undefined
 * if there is nothing to do. The reason may quote the device, so the caller passes its own function
 * that makes a text safe to print.
 */
export function describeFix(
	result: { check_key: string; status: string } & Explanation,
	printable: (text: string) => string,
): string | undefined {
	const { check_key: check, status, reason, remediation } = result;
	if (remediation === undefined) return undefined;
	const name = isCanonicalCheck(check)
		? CANONICAL_CHECKS[check].name
		: printable(check);
	const why = reason === undefined ? "" : `: ${printable(reason)}`;
	return [`${name} (${status})${why}`, ...remediation.split("\n")].join("\n  ");
}

/** Returns evidence as one line: `minimum_length=6 engine=pam_unix`. */
export function evidenceLine(evidence: Record<string, unknown>): string {
	return Object.entries(evidence)
		.map(([name, value]) =>
			typeof value === "object" && value !== null
				? `${name}=${JSON.stringify(value)}`
				: `${name}=${value}`,
		)
		.join(" ");
}
