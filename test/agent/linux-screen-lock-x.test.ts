import { expect, test } from "vitest";
import { ada, checkDesktops, manager } from "./linux-desktops.ts";

const onX = (name: string, ...args: string[]) =>
	manager("i3", {
		name,
		args: [name, ...args],
		environ: [
			"DISPLAY=:0",
			"S3CRET=abc",
			"XAUTHORITY=/run/user/1000/gdm/Xauthority",
		],
	});
const xss = onX("xss-lock", "--transfer-sleep-lock", "--", "i3lock", "-n");
const XSET = `${ada}DISPLAY=:0 XAUTHORITY=/run/user/1000/gdm/Xauthority xset q`;
const LIGHT_LOCKER = `${ada}gsettings get apps.light-locker lock-after-screensaver`;
const xset = (seconds: number) =>
	`Keyboard Control:\n  auto repeat:  on    key click percent:  0    LED mask:  00000000\nScreen Saver:\n  prefer blanking:  yes    allow exposures:  yes\n  timeout:  ${seconds}    cycle:  600\nColors:\n  default colormap:  0x20\n`;

test.each([
	[
		"when the server blanks the screen",
		xss,
		{ [XSET]: xset(600) },
		"PASS",
		{ idle_seconds: 600 },
	],
	[
		"never, because the server does not blank the screen",
		xss,
		{ [XSET]: xset(0) },
		"FAIL",
		{ idle_seconds: 0 },
	],
	[
		"at a time that the server does not tell",
		xss,
		{},
		"UNKNOWN",
		{ reason: "timeout_not_known" },
	],
	[
		"by a script that xss-lock starts, which may lock",
		onX("xss-lock", "-n", "/usr/bin/slock", "/home/ada/bin/away.sh"),
		{ [XSET]: xset(600) },
		"UNKNOWN",
		{ reason: "lock_command_not_recognized" },
	],
	[
		"not by xss-lock, which only turns the screen off",
		onX("xss-lock", "xset", "dpms", "force", "off"),
		{ [XSET]: xset(600) },
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"by xss-lock without `--`",
		onX("xss-lock", "-l", "-s", "3", "slock"),
		{ [XSET]: xset(600) },
		"PASS",
		{ idle_seconds: 600 },
	],
	[
		"by light-locker soon after the server blanks the screen",
		onX("light-locker"),
		{ [XSET]: xset(600), [LIGHT_LOCKER]: "uint32 5\n" },
		"PASS",
		{ idle_seconds: 600, lock_delay_seconds: 5 },
	],
	[
		"by light-locker an hour later, as its option says",
		onX("light-locker", "--lock-after-screensaver=3600"),
		{ [XSET]: xset(600), [LIGHT_LOCKER]: "uint32 5\n" },
		"FAIL",
		{ idle_seconds: 600, lock_delay_seconds: 3600 },
	],
	[
		"not by light-locker, because of its option",
		onX("light-locker", "--lock-after-screensaver", "0", "--late-locking"),
		{ [XSET]: xset(600) },
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"not by light-locker, because of its setting",
		onX("light-locker", "--lock-on-suspend"),
		{ [XSET]: xset(600), [LIGHT_LOCKER]: "uint32 0\n" },
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"by light-locker after a time that nobody can read",
		onX("light-locker"),
		{ [XSET]: xset(600) },
		"UNKNOWN",
		{ reason: "locker_settings_not_read" },
	],
	[
		"by xautolock",
		manager("i3", {
			name: "xautolock",
			args: ["xautolock", "-time", "5", "-locker", "i3lock -n"],
		}),
		{},
		"PASS",
		{ idle_seconds: 300 },
	],
	[
		"by xautolock at its own time",
		manager("i3", { name: "xautolock", args: ["xautolock"] }),
		{},
		"PASS",
		{ idle_seconds: 600 },
	],
	[
		"by xidlehook",
		manager("i3", {
			name: "xidlehook",
			args: [
				"xidlehook",
				"--not-when-fullscreen",
				"--timer",
				"300",
				"brightnessctl s 10",
				"",
				"--timer",
				"60",
				"i3lock",
				"",
			],
		}),
		{},
		"PASS",
		{ idle_seconds: 360 },
	],
	[
		"by xscreensaver",
		{
			...manager("i3", { name: "xscreensaver" }),
			"/home/ada/.xscreensaver":
				"# XScreenSaver Preferences File\n\ntimeout:\t0:05:00\ncycle:\t\t0:10:00\nlock:\t\tTrue\nlockTimeout:\t0:01:00\nmode:\t\tblank\n",
		},
		{},
		"PASS",
		{ idle_seconds: 300, lock_delay_seconds: 60 },
	],
	[
		"not by xscreensaver, which only blanks",
		manager("i3", { name: "xscreensaver" }),
		{},
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"by the first of two lockers",
		manager(
			"i3",
			{ name: "xautolock", args: ["xautolock", "-time", "30"] },
			{ name: "swayidle", args: ["swayidle", "timeout", "120", "i3lock"] },
		),
		{},
		"PASS",
		{ idle_seconds: 120 },
	],
	["by nothing", manager("i3"), {}, "FAIL", { lock_enabled: false }],
] as const)("i3 is locked %s", async (_, files, commands, status, evidence) => {
	expect(await checkDesktops(files, { commands })).toMatchObject({
		status,
		evidence,
	});
});
