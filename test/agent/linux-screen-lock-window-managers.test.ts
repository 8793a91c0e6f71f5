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
		"by the administrator's file",
		{
			...sway("-w"),
			"/etc/swayidle/config": "timeout 600 'swaylock -f'\n",
		},
		"PASS",
		{ idle_seconds: 600 },
	],
	[
		"by the user's file rather than the administrator's",
		{
			...sway("-w"),
			[SWAYIDLE]: "timeout 3600 'swaylock -f'\n",
			"/etc/swayidle/config": "timeout 600 'swaylock -f'\n",
		},
		"FAIL",
		{ idle_seconds: 3600 },
	],
	[
		"by a file in another folder for settings",
		{
			...manager("sway", {
				name: "swayidle",
				args: ["swayidle", "-w"],
				environ: ["XDG_CONFIG_HOME=/home/ada/settings", "S3CRET=abc"],
			}),
			"/home/ada/settings/swayidle/config": "timeout 60 swaylock\n",
		},
		"PASS",
		{ idle_seconds: 60 },
	],
	[
		"as a file says that the agent does not find, because swayidle would end without one",
		sway("-w"),
		"UNKNOWN",
		{ reason: "locker_settings_not_read" },
	],
	[
		"as a file says that the agent cannot find by its name",
		sway("-wC", "idle.conf", "timeout", "300", 'swaymsg "output * dpms off"'),
		"UNKNOWN",
		{ reason: "locker_settings_not_read" },
	],
	[
		"in time by its arguments, whatever a file says",
		sway("-C", "idle.conf", "timeout", "300", "swaylock"),
		"PASS",
		{ idle_seconds: 300 },
	],
	[
		"never, because swayidle only waits for sleep",
		sway("-w", "before-sleep", "swaylock -f"),
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"perhaps by systemd, which knows when the session is idle",
		sway("idlehint", "300", "lock", "swaylock -f"),
		"UNKNOWN",
		{ reason: "locker_settings_not_read" },
	],
	[
		"too late, or sooner by a script",
		sway("timeout", "300", "/home/ada/away.sh", "timeout", "3600", "swaylock"),
		"UNKNOWN",
		{ reason: "lock_command_not_recognized", idle_seconds: 3600 },
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

test.each([
	["quickshell"],
	["qs"],
	["dms"],
	[".quickshell-wrapped"],
])("a window manager with the shell %s, which may lock, is unknown", async (shell) => {
	const reason = "locker_settings_not_read";
	const unknown = { status: "UNKNOWN", evidence: { reason } };
	const desktop = (...args: string[]) =>
		manager("niri", { name: shell }, { name: "swayidle", args });
	expect(await checkDesktops(manager("niri", { name: shell }))).toMatchObject(
		unknown,
	);
	expect(
		await checkDesktops(desktop("swayidle", "timeout", "3600", "swaylock")),
	).toMatchObject(unknown);
	expect(
		await checkDesktops(desktop("swayidle", "timeout", "300", "swaylock")),
	).toMatchObject({ status: "PASS", evidence: { idle_seconds: 300 } });
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
