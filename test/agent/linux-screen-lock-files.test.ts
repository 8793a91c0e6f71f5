import { expect, test } from "vitest";
import { checkDesktops } from "./linux-desktops.ts";
import { processes } from "./recordings/linux.ts";

/** Desktops that keep their settings in files: KDE and XFCE. */

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
