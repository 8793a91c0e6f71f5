import { macTable, ordinaryUser } from "./macos-table.ts";
import { commands } from "./recorded-table.ts";
import { FORCED_TIME, preferences } from "./recordings/macos.ts";

macTable("TIME_SYNC", [
	["on", {}, "PASS", { service: "timed", enabled: true, managed: false }],
	[
		"off",
		commands({ "systemsetup -getusingnetworktime": "Network Time: Off\n" }),
		"FAIL",
		{ service: "timed", enabled: false, managed: false },
	],
	[
		"without root, which systemsetup says with exit code 0",
		{
			...ordinaryUser,
			...commands({
				"systemsetup -getusingnetworktime":
					"You need administrator access to run this tool... exiting!\n",
			}),
		},
		"UNKNOWN",
		{ reason: "needs_root" },
	],
	[
		"forced by a profile, without root",
		{
			...ordinaryUser,
			...preferences(FORCED_TIME, [
				"<key>TMAutomaticTimeOnlyEnabled</key>",
				"<true/>",
			]),
			without: ["systemsetup -getusingnetworktime"],
		},
		"PASS",
		{ service: "timed", enabled: true, managed: true },
	],
	[
		"other words",
		commands({ "systemsetup -getusingnetworktime": "### Error:-99\n" }),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);
