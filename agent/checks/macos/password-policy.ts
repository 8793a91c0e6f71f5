import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";

/**
 * Checks the password policy for all accounts. A minimum length is a rule that the password must
 * match, such as '.{8,}+' or '^.{12,}$'. If there are several, the longest one counts, because
 * every rule must hold. A Mac without device management requires only four characters, which is
 * FAIL. The check does not interpret rules in another form; they only turn a missing minimum length
 * into UNKNOWN. Lockout appears in the evidence but is not judged, because FileVault and the Secure
 * Enclave slow down guessing themselves.
 */
export async function checkPasswordPolicy(host: Host): Promise<CheckOutcome> {
	const result = await host.run("pwpolicy", ["-getaccountpolicies"]);
	const problem = whyFailed(result, host);
	if (problem !== undefined) return unknown(problem);
	// The command prints "Getting global account policies" before the list, in some versions on
	// standard error. If no policy is set, it prints nothing else.
	const told = `${result.stderr}\n${result.stdout}`.trim();
	if (told === "Getting global account policies") {
		return fail({ minimum_length: 0, policy_set: false });
	}
	if (
		!result.stdout.includes('<plist version="1.0">') ||
		!result.stdout.trimEnd().endsWith("</plist>")
	) {
		return unknown("unrecognized_output");
	}
	const rules = [
		...result.stdout.matchAll(
			/<key>policyContent<\/key>\s*<string>([^<]{1,4000})<\/string>/g,
		),
	];
	const onPasswords = rules
		.map(([, rule = ""]) => rule)
		.filter((rule) => rule.includes("policyAttributePassword matches"));
	const lengths = onPasswords
		.map(plainLength)
		.filter((length) => length !== undefined);
	const failures = readInteger(
		result.stdout,
		"policyAttributeMaximumFailedAuthentications",
	);
	const evidence =
		failures === undefined ? {} : { lockout_after_failures: failures };
	if (lengths.length === 0) {
		return onPasswords.length === 0
			? fail({ minimum_length: 0, ...evidence })
			: unknown("rule_not_understood", evidence);
	}
	const length = Math.max(...lengths);
	const found = { minimum_length: length, ...evidence };
	if (length >= host.threshold("min_password_length")) return pass(found);
	// A rule that the check does not understand may require a longer password than the plain rule.
	return onPasswords.length > lengths.length &&
		onPasswords.some(mayAskForLength)
		? unknown("rule_not_understood", found)
		: fail(found);
}

/** Returns N if the rule is exactly "policyAttributePassword matches '.{N,}'". */
function plainLength(rule: string): number | undefined {
	const [, single, double = ""] =
		/^\s*policyAttributePassword matches (?:'([^'"]*)'|"([^'"]*)")\s*$/.exec(
			rule,
		) ?? [];
	const [, length] =
		/^\^?\.\{(\d{1,4}),\d{0,4}\}[+?]?\$?$/.exec(single ?? double) ?? [];
	return length === undefined ? undefined : Number(length);
}

/**
 * Returns true if a rule in another form contains a count of three or more, which may be a length.
 */
function mayAskForLength(rule: string): boolean {
	if (plainLength(rule) !== undefined) return false;
	return [...rule.matchAll(/\{(\d{1,4})/g)].some(
		([, count]) => Number(count) >= 3,
	);
}

function readInteger(plist: string, key: string): number | undefined {
	const [, value] =
		new RegExp(`<key>${key}</key>\\s*<integer>(\\d{1,6})</integer>`).exec(
			plist,
		) ?? [];
	return value === undefined ? undefined : Number(value);
}
