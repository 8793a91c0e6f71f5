import { describe, expect, test } from "vitest";
import {
	checkAutoUpdate,
	UPDATE_UNITS,
} from "../../agent/checks/linux/auto-update.ts";
import { judgePatchAge } from "../../agent/checks/patch-age.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import {
	type Files,
	linux,
	MACHINE,
	OS_RELEASE,
	processes,
	searchedOn,
	stampCommand,
	type UnitState,
	units,
} from "./recordings/linux.ts";

const DNF_STAMPS = stampCommand("dnf-automatic");

/** Checks a device that these units update. The tests' clock says 2026-11-21. */
const check = (
	osRelease: string,
	states: Record<string, UnitState>,
	commands: Recording["commands"] = {},
	files: Files = {},
) =>
	checkAutoUpdate(
		recordedHost(
			linux({
				files: {
					...MACHINE,
					"/etc/os-release": osRelease,
					"/usr/bin/apt": "",
					...files,
				},
				commands: { ...units(UPDATE_UNITS, states), ...commands },
			}),
		),
	);

const DNF = { "dnf-automatic-install.timer": "running" } as const;

describe("the age of the patches", () => {
	test.each([
		["60 days ago", ["2026-09-22"], "PASS", { last_search_days: 60 }],
		[
			"61 days ago",
			["2026-09-21"],
			"FAIL",
			{ last_search_days: 61, patches_current: false },
		],
		[
			"620 days ago",
			["2025-03-11"],
			"FAIL",
			{ mechanism: "dnf-automatic", last_search_days: 620 },
		],
		[
			"yesterday, and other files long ago",
			["2024-01-01", "2026-11-20"],
			"PASS",
			{ last_search_days: 1 },
		],
	] as const)("the newest sign of an update is from %s", async (_, days, status, evidence) => {
		const outcome = await check(OS_RELEASE.fedora, DNF, searchedOn(days));
		expect(outcome).toMatchObject({ status, evidence });
	});

	test.each([
		["no file exists", {}],
		["the time is in the future", searchedOn(["2031-01-01"])],
		["stat prints something else", { [DNF_STAMPS]: "yesterday\n" }],
	])("a mechanism alone does not pass if %s", async (_, commands) => {
		expect(await check(OS_RELEASE.fedora, DNF, commands)).toMatchObject({
			status: "UNKNOWN",
			evidence: { reason: "patch_age_not_known" },
		});
	});

	test("the policy of the organization changes the number of days", () => {
		const outcome = { status: "PASS", evidence: {} } as const;
		const age = { pendingDays: 20 };
		const judge = (days: number) =>
			judgePatchAge({ threshold: () => days }, outcome, age).status;
		expect(judge(60)).toBe("PASS");
		expect(judge(14)).toBe("FAIL");
	});

	test("a device without a mechanism fails for that reason alone", async () => {
		expect(
			await check(OS_RELEASE.fedora, {}, searchedOn(["2020-01-01"])),
		).toEqual({ status: "FAIL", evidence: { mechanism: "none" } });
	});
});

const APT = {
	"apt-daily.timer": "running",
	"apt-daily-upgrade.timer": "running",
} as const;
const APT_CONFIG = {
	"apt-config dump":
		'APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "1";\nUnattended-Upgrade::Allowed-Origins:: "Ubuntu:noble-security";\n',
};

describe("only the signs of the mechanism itself count", () => {
	test("snapd that refreshes itself does not hide an apt that finds nothing", async () => {
		const commands = {
			...APT_CONFIG,
			...searchedOn(["2026-11-20"], ["snapd"]),
			...searchedOn(["2025-03-11"], ["unattended-upgrades"]),
		};
		expect(
			await check(OS_RELEASE.ubuntu, APT, commands, {
				"/usr/bin/unattended-upgrade": "",
			}),
		).toMatchObject({
			status: "FAIL",
			evidence: { overdue: "last_search_days", last_search_days: 620 },
		});
	});

	test("the stamp that apt's daily job writes without a network is not asked for", () => {
		expect(stampCommand("unattended-upgrades")).not.toContain("/update-stamp");
	});

	test("the metadata that dnf received tells of a search that installed nothing", async () => {
		const updates = "/var/cache/dnf/updates-0123456789abcdef/repodata";
		const files = {
			[`${updates}/primary.xml.gz`]: "",
			[`${updates}/repomd.xml`]: "",
			"/var/cache/dnf/last_makecache": "",
		};
		const asked = stampCommand(
			"dnf-automatic",
			`${updates}/primary.xml.gz`,
			`${updates}/repomd.xml`,
		);
		const commands = { [asked]: "1700000000\n1795132800\n1790000000\n" };
		expect(await check(OS_RELEASE.fedora, DNF, commands, files)).toMatchObject({
			status: "PASS",
			evidence: { last_search_days: 1 },
		});
	});

	test("AlmaLinux 8.3 of 2020 that has installed nothing since then", async () => {
		const release =
			'ID="almalinux"\nID_LIKE="rhel centos fedora"\nVERSION_ID="8.3"\n';
		expect(await check(release, DNF, searchedOn(["2021-03-30"]))).toMatchObject(
			{ status: "FAIL", evidence: { patches_current: false } },
		);
	});
});

const FRESH = searchedOn(["2026-11-20"]);

describe("an updater that somebody has switched off", () => {
	test.each([
		[
			"zincati",
			"zincati.service",
			"/etc/zincati/config.d/90-off.toml",
			"[updates]\nenabled = false\n",
			"FAIL",
		],
		[
			"zincati",
			"zincati.service",
			"/etc/zincati/config.d/90-on.toml",
			"[updates]\nenabled = true\n",
			"PASS",
		],
		[
			"update-engine",
			"update-engine.service",
			"/etc/flatcar/update.conf",
			"GROUP=stable\nSERVER=disabled\n",
			"FAIL",
		],
		[
			"update-engine",
			"update-engine.service",
			"/etc/flatcar/update.conf",
			"GROUP=stable\n",
			"PASS",
		],
	] as const)("%s by %s with %s", async (mechanism, unit, path, text, status) => {
		const outcome = await check(
			OS_RELEASE.fedora,
			{ [unit]: "running" },
			FRESH,
			{ [path]: text },
		);
		expect(outcome).toMatchObject({ status, evidence: { mechanism } });
	});
});

test.each([
	["Debian", OS_RELEASE.debian],
	["Rocky", OS_RELEASE.rocky],
])("%s that another system manages is unknown", async (_, release) => {
	expect(await check(release, { "puppet.service": "running" }, FRESH)).toEqual({
		status: "UNKNOWN",
		evidence: {
			reason: "managed_elsewhere",
			mechanism: "none",
			manager: "puppet",
		},
	});
});

const KDE = {
	...processes({ name: "plasmashell", uid: 1000 }),
	"/home/ada/.config/PlasmaDiscoverUpdates":
		"[Global]\nUseUnattendedUpdates=true\n",
};
const ADA = {
	"getent passwd 1000": "ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash\n",
};
const FIXED_OFF = {
	"/etc/xdg/PlasmaDiscoverUpdates":
		"[Global]\nUseUnattendedUpdates[$i]=false\n",
};

test.each([
	["installs updates", KDE, "UNKNOWN", { reason: "updated_by_desktop" }],
	[
		"may not install updates",
		{ ...KDE, ...FIXED_OFF },
		"FAIL",
		{ mechanism: "none" },
	],
])("Fedora on which KDE's Discover %s", async (_, files, status, evidence) => {
	expect(
		await check(OS_RELEASE.fedora, {}, { ...FRESH, ...ADA }, files),
	).toMatchObject({ status, evidence });
});

test("YaST's online update counts as a mechanism that installs updates", async () => {
	const outcome = await check(
		'ID=opensuse-leap\nVERSION_ID="15.6"\n',
		{},
		FRESH,
		{
			"/etc/sysconfig/automatic_online_update": 'AOU_ENABLE_CRONJOB="true"\n',
		},
	);
	expect(outcome).toMatchObject({
		status: "PASS",
		evidence: { mechanism: "yast-online-update" },
	});
});
