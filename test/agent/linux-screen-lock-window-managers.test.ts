import { expect, test } from "vitest";
import { checkScreenLock } from "../../agent/checks/linux/screen-lock.ts";
import { checkDesktops, manager } from "./linux-desktops.ts";
import { recordedHost } from "./recorded-host.ts";
import { linux } from "./recordings/linux.ts";

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
