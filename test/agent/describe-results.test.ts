import { expect, test } from "vitest";
import { describeResults } from "../../agent/describe-results.ts";

const observed_at = "2026-11-22T12:00:00Z";

test("the results are followed by how to fix what fails or is unknown", () => {
	const text = describeResults(
		[
			{
				check_key: "DISK_ENCRYPTION",
				status: "FAIL",
				evidence: { protection_suspended: true },
				observed_at,
			},
			{ check_key: "OS_VERSION", status: "PASS", evidence: {}, observed_at },
			{
				check_key: "SCREEN_LOCK",
				status: "UNKNOWN",
				evidence: { reason: "no_user_session" },
				observed_at,
			},
		],
		"WINDOWS",
	);
	const [table, ...fixes] = text.split("\n\n");
	expect(table?.split("\n")).toEqual([
		"STATUS   CHECK            EVIDENCE",
		"FAIL     DISK_ENCRYPTION  protection_suspended=true",
		"PASS     OS_VERSION",
		"UNKNOWN  SCREEN_LOCK      reason=no_user_session",
	]);
	expect(fixes).toEqual([
		expect.stringMatching(
			/^Full-disk encryption \(FAIL\): the protection is suspended\n {2}Open Control Panel .*\n {2}Administrators: `Resume-BitLocker /,
		),
		"Screen or idle lock (UNKNOWN): nobody is signed in\n  Sign in and use the device. The agent reads the settings of the user who is signed in.",
	]);
});
