import {
	CANONICAL_CHECKS,
	type CheckKey,
	isCanonicalCheck,
	PLATFORMS,
	type Platform,
} from "../terms.ts";
import type { Thresholds } from "../thresholds.ts";
import { failureInWords } from "./failure-words.ts";
import { FAILURES } from "./failures/all.ts";
import type { Fix } from "./failures/fix.ts";
import { withLimits } from "./limits.ts";
import { PARTICULAR_FIXES } from "./particular-fixes.ts";
import type { ReasonText } from "./reason-text.ts";
import { isReason, REASONS } from "./reasons.ts";

/** A result of a check, as the agent made it or as the service stored it. */
export interface Result {
	platform: string | null;
	check_key: string;
	status: string;
	evidence?: Record<string, unknown> | null | undefined;
}

type Observed = Pick<Result, "check_key" | "evidence">;

/** The reason why a check has its status, and the advice for changing it. */
export interface Explanation {
	/** For example "the minimum length is 6; at least 8 is required". */
	reason?: string | undefined;
	/** Steps for the user, and below them a line with commands for administrators. */
	remediation?: string | undefined;
}

/**
 * Explains a result. A check that passes or does not apply has no remediation. A failing or unknown
 * canonical check always has one, from whichever agent the result came. `all` are the results of the
 * device. They tell whether it is a server. `policy` has the limits that the device has to meet.
 * Without it, the texts name those that judged the result.
 */
export function explain(
	result: Result,
	all: readonly Observed[] = [],
	policy?: Thresholds | undefined,
): Explanation {
	const reason = reasonOf(result, policy);
	const advice = fixOf(result, all.some(saysServer));
	const remediation =
		advice && withLimits(advice, result.evidence ?? {}, policy);
	return {
		...(reason !== undefined && { reason }),
		...(remediation !== undefined && { remediation }),
	};
}

/** Returns true if the result says that the device has no desktop, and so no settings to open. */
const saysServer = ({ check_key, evidence }: Observed) =>
	check_key === "SCREEN_LOCK" && evidence?.reason === "no_desktop";

function reasonOf(
	{ platform, check_key, status, evidence }: Result,
	policy: Thresholds | undefined,
) {
	if (status === "FAIL" && isCanonicalCheck(check_key)) {
		return failureInWords(platform, check_key, evidence ?? {}, policy);
	}
	const reason = evidence?.reason;
	return (status === "UNKNOWN" || status === "NOT_APPLICABLE") &&
		isReason(reason)
		? REASONS[reason].says
		: undefined;
}

function fixOf(result: Result, isServer: boolean): string | undefined {
	const { check_key: check, status, evidence } = result;
	const platform = PLATFORMS.find((known) => known === result.platform);
	if (!platform || (status !== "FAIL" && status !== "UNKNOWN"))
		return undefined;
	const fixes = (
		isCanonicalCheck(check) ? fixesOf(platform, check) : []
	).filter(({ onServer = isServer }) => onServer === isServer);
	if (status === "FAIL") return fixFor(fixes, evidence ?? {});
	const reason = evidence?.reason;
	if (isReason(reason)) {
		const text: ReasonText = REASONS[reason];
		const fix = particularFix(platform, check, reason) ?? text.fix;
		if (fix !== undefined) return fix;
	}
	// Another agent may give a reason that Assay does not know. The usual advice is then the best.
	const usual = fixFor(fixes, {});
	return usual && `Make sure that the check can pass. ${usual}`;
}

function fixesOf(platform: Platform, check: CheckKey): readonly Fix[] {
	const { passMeans } = CANONICAL_CHECKS[check];
	return (
		FAILURES[platform][check] ?? [
			{ fix: `Change the device so that this is true: ${passMeans}` },
		]
	);
}

function particularFix(platform: Platform, check: string, reason: string) {
	return PARTICULAR_FIXES[
		`${platform} ${check as CheckKey} ${reason}` as keyof typeof PARTICULAR_FIXES
	];
}

/** Returns the first advice for the cause that the evidence shows. */
export function fixFor(
	fixes: readonly Fix[],
	evidence: Record<string, unknown>,
): string | undefined {
	return fixes.find(({ when }) => {
		if (when === undefined) return true;
		const value = evidence[when.field];
		if (when.is === undefined) return value !== undefined && value !== null;
		return Array.isArray(value) ? value.includes(when.is) : value === when.is;
	})?.fix;
}
