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

const kde = processes(
	{ name: "sddm" },
	{ name: "kwin_wayland", uid: 1000 },
	{ name: "plasmashell", uid: 1000 },
);
const ADA_RC = "/home/ada/.config/kscreenlockerrc";
const XDG_RC = "/etc/xdg/kscreenlockerrc";

test.each([
	[
		"has its defaults",
		{},
		"PASS",
		{ idle_seconds: 300, lock_delay_seconds: 5 },
	],
	[
		"has a longer time",
		{ [ADA_RC]: "[Daemon]\nTimeout=20\n\n[Greeter]\nTheme=x\n" },
		"FAIL",
		{ idle_seconds: 1200 },
	],
	[
		"does not lock",
		{
			[ADA_RC]:
				"[$Version]\nupdate_info=x\n\n[Daemon]\nAutolock=false\nLockGrace=60\n",
		},
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"has a shorter time for all",
		{ [XDG_RC]: "[Daemon]\nTimeout=10\n" },
		"PASS",
		{ idle_seconds: 600 },
	],
	[
		"has settings that its user cannot change",
		{
			[XDG_RC]: "[Daemon][$i]\nAutolock=true\nTimeout=10\n",
			[ADA_RC]: "[Daemon]\nAutolock=false\n",
		},
		"PASS",
		{ idle_seconds: 600, enforced: true },
	],
	[
		"has a setting its user cannot change",
		{
			[XDG_RC]: "[Daemon]\nTimeout[$i]=30\n",
			[ADA_RC]: "[Daemon]\nTimeout=5\n",
		},
		"FAIL",
		{ idle_seconds: 1800 },
	],
	[
		"asks for no password",
		{ [ADA_RC]: "[Daemon]\nRequirePassword=false\n" },
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"covers the screen without a lock",
		{ [ADA_RC]: "[Daemon]\nLock=false\n" },
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"counts in parts of a minute",
		{ [ADA_RC]: "[Daemon]\nTimeout=7.5\n" },
		"PASS",
		{ idle_seconds: 450 },
	],
	[
		"prints something else",
		{ [ADA_RC]: "[Daemon]\nTimeout=soon\n" },
		"UNKNOWN",
		{},
	],
] as const)("KDE %s", async (_, files, status, evidence) => {
	expect(await checkDesktops({ ...kde, ...files })).toMatchObject({
		status,
		evidence: { desktop: "kde", ...evidence },
	});
});

const XFCE =
	"/home/ada/.config/xfce4/xfconf/xfce-perchannel-xml/xfce4-screensaver.xml";
const xfce = processes(
	{ name: "xfce4-session", uid: 1000 },
	{ name: "xfce4-screensaver", uid: 1000 },
);
const xfconf = (inner: string) =>
	`<?xml version="1.1" encoding="UTF-8"?>\n\n<channel name="xfce4-screensaver" version="1.0">\n${inner}\n</channel>\n`;

test.each([
	["its defaults", undefined, "PASS"],
	[
		"a short time",
		xfconf(
			'<property name="saver" type="empty"><property name="mode" type="int" value="0"/><property name="idle-activation" type="empty"><property name="delay" type="int" value="10"/></property></property>',
		),
		"PASS",
	],
	[
		"a long time",
		xfconf(
			'<property name="saver" type="empty"><property name="idle-activation" type="empty"><property name="delay" type="int" value="30"/></property></property>',
		),
		"FAIL",
	],
	[
		"no lock",
		xfconf(
			'<property name="lock" type="empty"><property name="enabled" type="bool" value="false"/></property>',
		),
		"FAIL",
	],
	["a file of another kind", "<channel/>", "UNKNOWN"],
] as const)("XFCE with %s", async (_, text, status) => {
	const outcome = await checkDesktops({
		...xfce,
		...(text && { [XFCE]: text }),
	});
	expect(outcome).toMatchObject({ status, evidence: { desktop: "xfce" } });
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
