import { expect, test } from "vitest";
import { explain } from "../../src/devices/remediation/remediation.ts";

test.each([
	[
		{ paused_by: "device_management", paused_until: "2026-12-07" },
		"updates are paused by device management until 2026-12-07",
		"Update rings",
	],
	[
		{ paused_by: "group_policy" },
		"updates are paused by a group policy",
		"clear the day",
	],
	[
		{ paused_until: "2026-12-05" },
		"updates are paused until 2026-12-05",
		"select Resume updates",
	],
	[
		{
			manager: "automox",
			paused_until: "2026-12-07",
			...{ patches_current: false, last_update_days: 70 },
		},
		"no update has been installed for 70 days; at most 60 days are allowed",
		"under “manager”",
	],
	[
		{
			source: "configuration_manager",
			...{ patches_current: false, last_update_days: 70 },
		},
		"no update has been installed for 70 days; at most 60 days are allowed",
		"Software Center",
	],
])("a Windows with %j is told why it fails and who can mend it", (evidence, reason, advice) => {
	expect(
		explain({
			platform: "WINDOWS",
			check_key: "AUTO_UPDATE",
			status: "FAIL",
			evidence,
		}),
	).toEqual({ reason, remediation: expect.stringContaining(advice) });
});
