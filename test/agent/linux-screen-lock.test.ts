import { expect, test } from "vitest";
import { ada, checkDesktops } from "./linux-desktops.ts";
import { processes } from "./recordings/linux.ts";

/** Returns the settings of GNOME or a related desktop as gsettings prints them. */
function gsettings(
	run: string,
	root: string,
	values: {
		enabled?: string;
		lockDelay?: string;
		idleDelay?: string;
		forbidden?: string;
	},
): Record<string, string> {
	const saver =
		root === "org.mate"
			? "org.mate.screensaver"
			: `${root}.desktop.screensaver`;
	const session =
		root === "org.mate" ? "org.mate.session" : `${root}.desktop.session`;
	const lockdown =
		root === "org.mate" ? "org.mate.lockdown" : `${root}.desktop.lockdown`;
	const call = `${run}gsettings list-recursively`;
	return {
		[`${call} ${session}`]: `${session} idle-delay ${values.idleDelay ?? "uint32 300"}\n${session} session-name 'ubuntu'\n`,
		[`${call} ${saver}`]: [
			`${saver} embedded-keyboard-command ''`,
			`${saver} idle-activation-enabled true`,
			`${saver} lock-delay ${values.lockDelay ?? "uint32 0"}`,
			`${saver} lock-enabled ${values.enabled ?? "true"}`,
			`${saver} picture-uri 'file:///home/ada/Pictures/me and my dog.jpg'`,
			"",
		].join("\n"),
		[`${call} ${lockdown}`]: `${lockdown} disable-lock-screen ${values.forbidden ?? "false"}\n`,
	};
}

const gnome = processes({ name: "gdm3" }, { name: "gnome-shell", uid: 1000 });

test.each([
	[
		"locks after five minutes",
		{},
		"PASS",
		{ idle_seconds: 300, lock_delay_seconds: 0 },
	],
	[
		"locks after exactly fifteen",
		{ idleDelay: "uint32 600", lockDelay: "uint32 300" },
		"PASS",
		{},
	],
	[
		"locks too late after it is idle",
		{ idleDelay: "uint32 900", lockDelay: "uint32 1" },
		"FAIL",
		{},
	],
	["is never idle", { idleDelay: "uint32 0" }, "FAIL", { idle_seconds: 0 }],
	[
		"is blanked and not locked",
		{ enabled: "false" },
		"FAIL",
		{ lock_enabled: false },
	],
	["may not be locked", { forbidden: "true" }, "FAIL", { lock_enabled: false }],
	[
		"prints something else",
		{ lockDelay: "soon" },
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
] as const)("GNOME %s", async (_, values, status, evidence) => {
	const outcome = await checkDesktops(gnome, {
		commands: gsettings(ada, "org.gnome", values),
	});
	expect(outcome).toMatchObject({
		status,
		evidence: { desktop: "gnome", ...evidence },
	});
	expect(JSON.stringify(outcome)).not.toMatch(/ada|dog/);
});

test("GNOME's settings that the administrator has locked are reported as enforced", async () => {
	const outcome = await checkDesktops(
		{
			...gnome,
			"/etc/dconf/db/local.d/00-screen":
				"[org/gnome/desktop/session]\nidle-delay=uint32 300\n",
			"/etc/dconf/db/local.d/locks/screen":
				"# locks\n/org/gnome/desktop/session/idle-delay\n/org/gnome/desktop/screensaver/lock-enabled\n/org/gnome/desktop/screensaver/lock-delay\n",
		},
		{
			commands: gsettings(ada, "org.gnome", {}),
			folders: {
				"/etc/dconf/db": ["local", "local.d"],
				"/etc/dconf/db/local.d/locks": ["screen"],
			},
		},
	);
	expect(outcome).toMatchObject({
		status: "PASS",
		evidence: { enforced: true },
	});
});

test("an agent without root's rights asks only for its own user's settings", async () => {
	const own = { ...gsettings("", "org.gnome", {}), "id -u": "1000\n" };
	expect(
		(await checkDesktops(gnome, { isPrivileged: false, commands: own })).status,
	).toBe("PASS");
	const other = { ...own, "id -u": "1001\n" };
	expect(
		await checkDesktops(gnome, { isPrivileged: false, commands: other }),
	).toMatchObject({
		status: "UNKNOWN",
		evidence: { reason: "needs_root" },
	});
});

test("Cinnamon counts in seconds, MATE in minutes", async () => {
	const cinnamon = await checkDesktops(
		processes({ name: "cinnamon-session", uid: 1000 }),
		{
			commands: gsettings(ada, "org.cinnamon", { lockDelay: "uint32 2" }),
		},
	);
	expect(cinnamon).toMatchObject({
		status: "PASS",
		evidence: { desktop: "cinnamon", idle_seconds: 300 },
	});
	const mate = await checkDesktops(
		processes({ name: "mate-session", uid: 1000 }),
		{
			commands: gsettings(ada, "org.mate", { idleDelay: "10", lockDelay: "1" }),
		},
	);
	expect(mate).toMatchObject({
		status: "PASS",
		evidence: { desktop: "mate", idle_seconds: 600, lock_delay_seconds: 60 },
	});
});

test.each([
	["SDDM", "sddm"],
	["greetd", "greetd"],
	["LightDM", "lightdm"],
	["a text console", "login"],
])("GNOME Shell started from %s fails, because it cannot lock", async (_, name) => {
	const outcome = await checkDesktops(
		processes({ name }, { name: "gnome-shell", uid: 1000 }),
		{ commands: gsettings(ada, "org.gnome", {}) },
	);
	expect(outcome).toEqual({
		status: "FAIL",
		evidence: { desktop: "gnome", lock_enabled: false, gdm_running: false },
	});
});

test("a person whose id comes from a directory has a desktop", async () => {
	const outcome = await checkDesktops(
		processes({ name: "sway", uid: 61_500 }),
		{
			commands: {
				"getent passwd 61500": "eve:x:61500:61500::/home/eve:/bin/bash\n",
			},
		},
	);
	expect(outcome).toMatchObject({
		status: "FAIL",
		evidence: { desktop: "window-manager" },
	});
});

test("the worse of two users' desktops counts", async () => {
	const outcome = await checkDesktops(
		{
			...processes(
				{ name: "gdm3" },
				{ name: "gnome-shell", uid: 1000 },
				{ name: "sway", uid: 1001 },
			),
		},
		{ commands: gsettings(ada, "org.gnome", {}) },
	);
	expect(outcome).toEqual({
		status: "FAIL",
		evidence: { desktop: "window-manager", lock_enabled: false, desktops: 2 },
	});
});

test.each([
	[
		"a server",
		processes({ name: "sshd" }, { name: "nginx", uid: 33 }),
		"NOT_APPLICABLE",
		"no_desktop",
	],
	[
		"only the login screen",
		processes({ name: "gdm3" }, { name: "gnome-shell", uid: 120 }),
		"UNKNOWN",
		"nobody_logged_in",
	],
	[
		"the login screen with a temporary account",
		processes({ name: "gdm" }, { name: "gnome-shell", uid: 60578 }),
		"UNKNOWN",
		"nobody_logged_in",
	],
	[
		"a desktop that is not supported",
		processes({ name: "cosmic-comp", uid: 1000 }),
		"UNKNOWN",
		"desktop_not_supported",
	],
	[
		"elementary",
		processes({ name: "lightdm" }, { name: "gala", uid: 1000 }),
		"UNKNOWN",
		"desktop_not_supported",
	],
	[
		"Deepin",
		processes({ name: "lightdm" }, { name: "dde-session", uid: 1000 }),
		"UNKNOWN",
		"desktop_not_supported",
	],
	[
		"Enlightenment, which has a lock of its own",
		processes({ name: "enlightenment", uid: 1000 }),
		"UNKNOWN",
		"desktop_not_supported",
	],
	[
		"LXQt, whose power manager may lock it",
		processes(
			{ name: "lxqt-session", uid: 1000 },
			{ name: "lxqt-powermanagement", uid: 1000 },
		),
		"UNKNOWN",
		"locker_settings_not_read",
	],
	[
		"an unknown window manager on root's X server",
		processes({ name: "Xorg" }, { name: "spectrwm", uid: 1000 }),
		"UNKNOWN",
		"desktop_not_recognized",
	],
	[
		"an unknown compositor that was started from the login screen",
		processes({ name: "greetd" }, { name: "Xwayland", uid: 1000 }),
		"UNKNOWN",
		"desktop_not_recognized",
	],
	[
		"a user without an account",
		processes({ name: "sway", uid: 4242 }),
		"UNKNOWN",
		"account_not_found",
	],
	[
		"processes that cannot all be seen",
		{ "/proc/4242/status": "Name:\tsh\nUid:\t1000\t1000\n" },
		"UNKNOWN",
		"processes_not_readable",
	],
] as const)("%s", async (_, files, status, reason) => {
	expect(await checkDesktops(files)).toMatchObject({
		status,
		evidence: { reason },
	});
});

test("the desktop of a container is on no screen of the device", async () => {
	const inContainer = {
		"/proc/4321/status":
			"Name:\txfce4-session\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t4321\t17\n",
	};
	expect(await checkDesktops({ ...processes(), ...inContainer })).toEqual({
		status: "NOT_APPLICABLE",
		evidence: { reason: "no_desktop" },
	});
});
