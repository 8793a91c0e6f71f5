import { bsdTable } from "./freebsd-table.ts";
import { commands } from "./recorded-table.ts";
import { ARGUMENTS, NAMES, running } from "./recordings/freebsd.ts";

bsdTable("SCREEN_LOCK", [
	[
		"xautolock after 10 minutes",
		{},
		"PASS",
		{ lock_enabled: true, locker: "xautolock", idle_seconds: 600 },
	],
	[
		"xautolock after an hour",
		commands({
			[ARGUMENTS]: "/usr/local/bin/xautolock -time 60 -locker slock\n",
		}),
		"FAIL",
		{ lock_enabled: true, locker: "xautolock", idle_seconds: 3600 },
	],
	[
		"xautolock with an unknown command",
		commands({ [ARGUMENTS]: "xautolock -time 5 -locker zzz\n" }),
		"UNKNOWN",
		{ reason: "locker_settings_not_read", locker: "xautolock" },
	],
	[
		"swayidle that turns the display off before it locks",
		commands({
			[NAMES]: running("sway", "swayidle"),
			[ARGUMENTS]:
				"swayidle -w timeout 60 swaymsg output * dpms off timeout 300 swaylock -f before-sleep swaylock -f\n",
		}),
		"PASS",
		{ lock_enabled: true, locker: "swayidle", idle_seconds: 300 },
	],
	[
		"no program that could lock",
		commands({ [NAMES]: running("Xorg", "twm") }),
		"FAIL",
		{ lock_enabled: false, locker: "none" },
	],
	[
		"a desktop with its own settings",
		commands({ [NAMES]: running("Xorg", "plasmashell", "kwin_x11") }),
		"UNKNOWN",
		{ reason: "desktop_settings_not_read" },
	],
	[
		"xscreensaver",
		commands({ [NAMES]: running("Xorg", "xscreensaver") }),
		"UNKNOWN",
		{ reason: "locker_settings_not_read", locker: "xscreensaver" },
	],
	[
		"nobody logged in",
		commands({ [NAMES]: running("Xorg", "lightdm-gtk-greeter") }),
		"UNKNOWN",
		{ reason: "nobody_logged_in" },
	],
	[
		"a server",
		commands({ [NAMES]: running("sshd") }),
		"NOT_APPLICABLE",
		{ reason: "no_desktop" },
	],
	[
		"processes of other users that are not visible",
		{ isPrivileged: false, commands: { [NAMES]: "sh\nps\n" } },
		"UNKNOWN",
		{ reason: "needs_root" },
	],
]);
