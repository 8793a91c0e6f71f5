import { expect, test } from "vitest";
import { checkScreenLock } from "../../agent/checks/linux/screen-lock.ts";
import { ada, checkDesktops } from "./linux-desktops.ts";
import { recordedHost } from "./recorded-host.ts";
import { linux, processes } from "./recordings/linux.ts";

const manager = (name: string, ...others: Parameters<typeof processes>) =>
	processes(
		{ name, uid: 1000 },
		...others.map((other) => ({ uid: 1000, ...other })),
	);
const sway = (...args: string[]) =>
	manager("sway", { name: "swayidle", args: ["swayidle", ...args] });
const SWAYIDLE = "/home/ada/.config/swayidle/config";

test.each([
	[
		"in its arguments",
		sway(
			"-w",
			"timeout",
			"300",
			"swaylock -f -c 000000",
			"timeout",
			"600",
			'swaymsg "output * dpms off"',
			"resume",
			'swaymsg "output * dpms on"',
			"before-sleep",
			"swaylock -f",
		),
		"PASS",
		{ idle_seconds: 300 },
	],
	[
		"in its file",
		{
			...sway("-w"),
			[SWAYIDLE]:
				"# my idle\ntimeout 600 '/usr/bin/swaylock -f'\nbefore-sleep \"swaylock -f\"\n",
		},
		"PASS",
		{ idle_seconds: 600 },
	],
	[
		"at a time that nobody can read",
		manager("sway", { name: "swayidle" }),
		"UNKNOWN",
		{ reason: "command_line_not_readable" },
	],
	[
		"by asking the session",
		sway("timeout", "300", "loginctl lock-session", "lock", "gtklock -d"),
		"PASS",
		{},
	],
	[
		"too late",
		sway("timeout", "1800", "swaylock"),
		"FAIL",
		{ idle_seconds: 1800 },
	],
	[
		"never, because only the screen is turned off",
		sway("timeout", "300", 'swaymsg "output * dpms off"'),
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"perhaps by a script",
		sway("timeout", "300", "/home/ada/bin/away.sh"),
		"UNKNOWN",
		{ reason: "lock_command_not_recognized" },
	],
	[
		"never, because nothing locks the session that is asked",
		sway("timeout", "300", "loginctl lock-session"),
		"UNKNOWN",
		{},
	],
	[
		"never, because swayidle does not run",
		manager("sway"),
		"FAIL",
		{ lock_enabled: false },
	],
] as const)("sway is locked %s", async (_, files, status, evidence) => {
	expect(await checkDesktops(files)).toMatchObject({
		status,
		evidence: { desktop: "window-manager", ...evidence },
	});
});

const HYPR = "/home/ada/.config/hypr/hypridle.conf";
const hypr = (...listeners: string[]) => ({
	...manager("Hyprland", { name: "hypridle" }),
	[HYPR]: `general {\n    lock_cmd = pidof hyprlock || hyprlock  # once\n    before_sleep_cmd = loginctl lock-session\n}\n\n${listeners.join("\n")}`,
});

test.each([
	[
		"after five minutes",
		hypr(
			"listener {\n    timeout = 150\n    on-timeout = brightnessctl -s set 10\n}",
			"listener {\n    timeout = 300 # 5 min\n    on-timeout = loginctl lock-session\n}\n",
		),
		"PASS",
	],
	[
		"never, because the part is a comment",
		hypr(
			"# listener {\n#    timeout = 300\n#    on-timeout = hyprlock\n# }\nlistener {\n timeout = 300\n on-timeout = hyprctl dispatch dpms off\n}\n",
		),
		"FAIL",
	],
	[
		"after an hour",
		hypr("listener {\n timeout = 3600\n on-timeout = hyprlock\n}\n"),
		"FAIL",
	],
] as const)("Hyprland is locked %s", async (_, files, status) => {
	expect((await checkDesktops(files)).status).toBe(status);
});

const xss = manager("i3", {
	name: "xss-lock",
	environ: [
		"DISPLAY=:0",
		"S3CRET=abc",
		"XAUTHORITY=/run/user/1000/gdm/Xauthority",
	],
});
const XSET = `${ada}DISPLAY=:0 XAUTHORITY=/run/user/1000/gdm/Xauthority xset q`;
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

test("a file that a user's program names is read with that user's rights, never by root", async () => {
	const named = "/proc/self/root/dev/watchdog";
	const readAs: unknown[] = [];
	const host = recordedHost(
		linux({
			files: { ...sway("-C", named), [named]: "timeout 60 swaylock\n" },
			commands: {
				"getent passwd 1000": "ada:x:1000:1001::/home/ada:/bin/bash\n",
			},
		}),
	);
	const outcome = await checkScreenLock({
		...host,
		readFile: async (path) => {
			expect(path).not.toBe(named);
			return host.readFile(path);
		},
		readFileAs: async (user, path) => {
			readAs.push([user, path]);
			return host.readFileAs(user, path);
		},
	});
	expect(outcome).toMatchObject({ status: "PASS" });
	expect(readAs).toEqual([[{ uid: 1000, gid: 1001 }, named]]);
});
