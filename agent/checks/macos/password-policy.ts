import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";
import { MIN_PASSWORD_LENGTH } from "../limits.ts";

/**
 * The policy for all accounts. A length is a rule that the password must match, such as '.{8,}+' or
 * '^.{12,}$'; the longest counts, as every rule must hold. A Mac that nobody manages asks for four
 * characters, which is FAIL. Rules in another form are not guessed at: they only make a missing
 * length UNKNOWN. Lockout is told and not judged, for FileVault and the Secure Enclave slow down
 * guessing on their own.
 */
export async function checkPasswordPolicy(host: Host): Promise<CheckOutcome> {
	const result = await host.run("pwpolicy", ["-getaccountpolicies"]);
	const problem = whyFailed(result, host);
	if (problem !== undefined) return unknown(problem);
	// "Getting global account policies" stands before the list, in some versions on standard error,
	// and alone if there is none.
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
	if (length >= MIN_PASSWORD_LENGTH) return pass(found);
	// Another rule may well ask for more than the plain one.
	return onPasswords.length > lengths.length &&
		onPasswords.some(mayAskForLength)
		? unknown("rule_not_understood", found)
		: fail(found);
}

/** N of "policyAttributePassword matches '.{N,}'" and nothing else in the rule. */
function plainLength(rule: string): number | undefined {
	const [, length] =
		/^\s*policyAttributePassword matches (['"])\^?\.\{(\d{1,4}),\d{0,4}\}[+?]?\$?\1\s*$/
			.exec(rule)
			?.slice(1) ?? [];
	return length === undefined ? undefined : Number(length);
}

/** A count of three or more somewhere in a rule that is no plain length. */
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
