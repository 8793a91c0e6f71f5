import { macTable } from "./macos-table.ts";
import { commands } from "./recorded-table.ts";
import { FIREWALL, STEALTH } from "./recordings/macos.ts";

macTable("FIREWALL_ENABLED", [
	[
		"on",
		{},
		"PASS",
		{
			engine: "application_firewall",
			enabled: true,
			block_all: false,
			stealth: true,
		},
	],
	[
		"blocking everything, with the words of macOS 12",
		commands({
			[FIREWALL]:
				"Firewall is blocking all non-essential incoming connections. (State = 2) \n",
			[STEALTH]: "Stealth mode disabled \n",
		}),
		"PASS",
		{
			engine: "application_firewall",
			enabled: true,
			block_all: true,
			stealth: false,
		},
	],
	[
		"off",
		commands({ [FIREWALL]: "Firewall is disabled. (State = 0) \n" }),
		"FAIL",
		{ engine: "application_firewall", enabled: false },
	],
	[
		"no such program",
		{ without: [FIREWALL] },
		"UNKNOWN",
		{ reason: "command_missing" },
	],
	[
		"an error that mentions the state",
		commands({
			[FIREWALL]: { exitCode: 1, stderr: "Firewall is enabled. (State = 1)" },
		}),
		"UNKNOWN",
		{ reason: "command_failed" },
	],
]);
