import { macTable, ordinaryUser } from "./macos-table.ts";
import { type Change, commands } from "./recorded-table.ts";
import { accountPolicy } from "./recordings/macos.ts";

const policy = (said: string): Change =>
	commands({ "pwpolicy -getaccountpolicies": said });

macTable("PASSWORD_POLICY", [
	[
		"12 characters, and a lockout",
		{},
		"PASS",
		{ minimum_length: 12, lockout_after_failures: 10 },
	],
	[
		"the rule of a Mac that nobody manages",
		policy(accountPolicy(["policyAttributePassword matches '.{4,}+'"])),
		"FAIL",
		{ minimum_length: 4 },
	],
	[
		"a rule anchored at both ends",
		policy(accountPolicy(["policyAttributePassword matches '^.{8,}$'"])),
		"PASS",
		{ minimum_length: 8 },
	],
	[
		"no policy",
		policy("Getting global account policies\n"),
		"FAIL",
		{ minimum_length: 0, policy_set: false },
	],
	[
		"a policy only on kinds of characters",
		policy(
			accountPolicy([
				"policyAttributePassword matches '.{4,}+'",
				"policyAttributePassword matches '(.*[^a-zA-Z0-9].*){1,}'",
			]),
		),
		"FAIL",
		{ minimum_length: 4 },
	],
	[
		"a rule about more than a length",
		policy(
			accountPolicy([
				"policyAttributePassword matches '.{4,}+'",
				"policyAttributePassword matches '^(?=.*[0-9])(?=.*[a-zA-Z]).{10,}'",
			]),
		),
		"UNKNOWN",
		{ reason: "rule_not_understood", minimum_length: 4 },
	],
	[
		"a length that stands only in a description",
		policy(
			accountPolicy(
				["policyAttributePassword matches '.{4,}+'"],
				"<key>policyContentDescription</key>\n\t<string>policyAttributePassword matches '.{20,}'</string>",
			),
		),
		"FAIL",
		{ minimum_length: 4 },
	],
	[
		"no rights",
		{
			...ordinaryUser,
			commands: {
				"pwpolicy -getaccountpolicies": { exitCode: 77, stderr: "Error" },
			},
		},
		"UNKNOWN",
		{ reason: "needs_root" },
	],
	[
		"half a list",
		policy(
			accountPolicy(["policyAttributePassword matches '.{12,}'"]).slice(0, 400),
		),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);
