import { macTable } from "./macos-table.ts";
import { commands } from "./recorded-table.ts";
import {
	FORCED_SAVER,
	LOCK_DELAY,
	lockDelay,
	pmset,
	preferences,
	SAVER_IDLE,
} from "./recordings/macos.ts";

const lock = {
	lock_enabled: true,
	lock_delay_seconds: 0,
	managed: false,
};

macTable("SCREEN_LOCK", [
	[
		"the screen saver after 10 minutes, with a password at once",
		{},
		"PASS",
		{
			...lock,
			screen_saver_seconds: 600,
			display_off_seconds: 600,
			idle_seconds: 600,
		},
	],
	[
		"no screen saver, and the display off after 10 minutes",
		commands({
			[SAVER_IDLE]: "0\n",
			[LOCK_DELAY]: lockDelay("delay is 300 seconds"),
		}),
		"PASS",
		{
			...lock,
			lock_delay_seconds: 300,
			screen_saver_seconds: 0,
			display_off_seconds: 600,
			idle_seconds: 900,
		},
	],
	[
		"the same with a delay of an hour",
		commands({ [LOCK_DELAY]: lockDelay("delay is 3600 seconds") }),
		"FAIL",
		{
			...lock,
			lock_delay_seconds: 3600,
			screen_saver_seconds: 600,
			display_off_seconds: 600,
			idle_seconds: 4200,
		},
	],
	[
		"no password",
		commands({ [LOCK_DELAY]: lockDelay("is off") }),
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"no password, reported in seconds",
		commands({ [LOCK_DELAY]: lockDelay("delay is -1.000000 seconds") }),
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"neither the screen saver nor the display",
		commands({ [SAVER_IDLE]: "0\n", ...pmset(2, 0) }),
		"FAIL",
		{ ...lock, screen_saver_seconds: 0, display_off_seconds: 0 },
	],
	[
		"both after 20 minutes",
		commands({ [SAVER_IDLE]: "1200\n", ...pmset(20, 20) }),
		"FAIL",
		{
			...lock,
			screen_saver_seconds: 1200,
			display_off_seconds: 1200,
			idle_seconds: 1200,
		},
	],
	[
		"a screen saver that was never set, and a display that stays on",
		{
			...commands({
				[SAVER_IDLE]: {
					exitCode: 1,
					stderr:
						"2026-11-21 09:41:08.001 defaults[4712:81240] \nThe domain/default pair of (com.apple.screensaver, idleTime) does not exist\n",
				},
				...pmset(0, 0),
			}),
		},
		"UNKNOWN",
		{ reason: "idle_time_not_known", ...lock, display_off_seconds: 0 },
	],
	[
		"nobody at the screen",
		commands({ "stat -f %u /dev/console": "0\n" }),
		"UNKNOWN",
		{ reason: "no_console_user" },
	],
	[
		"nobody at the screen of a managed Mac",
		{
			commands: {
				"stat -f %u /dev/console": "0\n",
				...preferences(FORCED_SAVER, [
					"<key>askForPassword</key>",
					"<true/>",
					"<key>askForPasswordDelay</key>",
					"<integer>5</integer>",
					"<key>idleTime</key>",
					"<integer>300</integer>",
				]).commands,
			},
			files: preferences(FORCED_SAVER, []).files,
		},
		"PASS",
		{
			lock_enabled: true,
			lock_delay_seconds: 5,
			screen_saver_seconds: 300,
			display_off_seconds: 600,
			managed: true,
			idle_seconds: 305,
		},
	],
	[
		"an agent without root, for its own user",
		{
			isPrivileged: false,
			commands: {
				"sysadminctl -screenLock status": lockDelay("delay is 5 seconds"),
				"defaults -currentHost read com.apple.screensaver idleTime": "300\n",
			},
			without: [LOCK_DELAY, SAVER_IDLE],
		},
		"PASS",
		{
			...lock,
			lock_delay_seconds: 5,
			screen_saver_seconds: 300,
			display_off_seconds: 600,
			idle_seconds: 305,
		},
	],
	[
		"no answer from sysadminctl",
		commands({ [LOCK_DELAY]: { ended: "timed_out" } }),
		"UNKNOWN",
		{ reason: "timed_out" },
	],
]);
