import { describe } from "vitest";
import {
	PASSWORD_POLICY_SCRIPT,
	passwordPolicy,
} from "../../agent/checks/windows/password-policy.ts";
import { cases } from "./windows-cases.ts";
import { values } from "./windows-recording.ts";

const passwords = (minimumLength: number | null, fields: object = {}) => ({
	policy: values({
		minimumLength,
		maximumAgeSeconds: 3628800,
		history: 24,
		lockout: 10,
	}),
	managedLength: null,
	managedOff: null,
	cloudJoined: false,
	...fields,
});

describe("PASSWORD_POLICY on Windows", () => {
	cases(passwordPolicy, PASSWORD_POLICY_SCRIPT, [
		[
			"a minimum of 14 passes",
			passwords(14),
			"PASS",
			{ minimum_length: 14, lockout_threshold: 10, maximum_age_days: 42 },
		],
		[
			"a minimum set by management passes",
			passwords(0, { managedLength: 12, managedOff: 0 }),
			"PASS",
			{ minimum_length: 12 },
		],
		[
			"Windows with its defaults fails",
			passwords(0),
			"FAIL",
			{ minimum_length: 0, cloud_joined: false },
		],
		[
			"a minimum without a required password does not count",
			passwords(0, { managedLength: 12, managedOff: 1 }),
			"FAIL",
			{ minimum_length: 0 },
		],
		[
			"a device joined to Entra ID is UNKNOWN",
			passwords(0, { cloudJoined: true }),
			"UNKNOWN",
			{ reason: "cloud_managed_accounts" },
		],
		[
			"a policy that cannot be read is UNKNOWN",
			{
				...passwords(0),
				policy: { error: "RuntimeException" },
			},
			"UNKNOWN",
			{ reason: "query_failed" },
		],
		[
			"a short managed minimum beside a policy that cannot be read is UNKNOWN",
			{
				...passwords(0, { managedLength: 6, managedOff: 0 }),
				policy: { error: "RuntimeException" },
			},
			"UNKNOWN",
			{ reason: "local_policy_unread", minimum_length: 6 },
		],
		[
			"a policy without a number is not understood",
			passwords(null),
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
	]);
});
