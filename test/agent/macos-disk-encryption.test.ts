import { macTable } from "./macos-table.ts";
import { commands } from "./recorded-table.ts";

macTable("DISK_ENCRYPTION", [
	["on", {}, "PASS", { engine: "filevault", state: "on" }],
	[
		"off",
		commands({ "fdesetup status": "FileVault is Off.\n" }),
		"FAIL",
		{ engine: "filevault", state: "off" },
	],
	[
		"off until the user next signs in",
		commands({
			"fdesetup status":
				"FileVault is Off.\nDeferred enablement appears to be active for user 'jane'.\n",
		}),
		"FAIL",
		{ engine: "filevault", state: "off", deferred: true },
	],
	[
		"off until the next restart",
		commands({
			"fdesetup status":
				"FileVault is Off, but will be enabled after the next restart.\n",
		}),
		"FAIL",
		{ engine: "filevault", state: "off", deferred: true },
	],
	[
		"being encrypted",
		commands({
			"fdesetup status":
				"FileVault is On.\nEncryption in progress: Percent completed = 42.31\n",
		}),
		"UNKNOWN",
		{
			reason: "encryption_in_progress",
			engine: "filevault",
			percent_done: 42,
			state: "encrypting",
		},
	],
	[
		"waiting for the charger",
		commands({
			"fdesetup status": "FileVault is On.\nEncryption in progress: Pending\n",
		}),
		"UNKNOWN",
		{
			reason: "encryption_in_progress",
			engine: "filevault",
			state: "encrypting",
		},
	],
	[
		"on after the next restart",
		commands({
			"fdesetup status":
				"FileVault is On, but needs to be restarted to finish.\n",
		}),
		"UNKNOWN",
		{
			reason: "restart_pending",
			engine: "filevault",
			state: "on_after_restart",
		},
	],
	[
		"being decrypted",
		commands({
			"fdesetup status":
				"FileVault is Off.\nDecryption in progress: Percent completed = 8\n",
		}),
		"FAIL",
		{ engine: "filevault", percent_done: 8, state: "decrypting" },
	],
	[
		"on, below a line about a master keychain",
		commands({
			"fdesetup status":
				"FileVault master keychain appears to be installed.\nFileVault is On.\n",
		}),
		"PASS",
		{ engine: "filevault", state: "on" },
	],
	[
		"no answer in time",
		commands({ "fdesetup status": { ended: "timed_out" } }),
		"UNKNOWN",
		{ reason: "timed_out" },
	],
	[
		"an error",
		commands({ "fdesetup status": { exitCode: 1, stderr: "Error: -69594" } }),
		"UNKNOWN",
		{ reason: "command_failed" },
	],
	[
		"other words",
		commands({ "fdesetup status": "FileVault is Onerous\n" }),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);
