import { describe, expect, test } from "vitest";
import {
	checkAutoUpdate,
	UPDATE_UNITS,
} from "../../agent/checks/linux/auto-update.ts";
import { STAMP_COMMAND } from "../../agent/checks/linux/patch-stamps.ts";
import { judgePatchAge } from "../../agent/checks/patch-age.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import {
	type Files,
	linux,
	MACHINE,
	OS_RELEASE,
	type UnitState,
	units,
} from "./recordings/linux.ts";

const STAMPS = STAMP_COMMAND.join(" ");
const changed = (...days: string[]) => ({
	exitCode: 1,
	stdout: days.map((day) => `${Date.parse(day) / 1000}\n`).join(""),
});

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
				files: { ...MACHINE, "/etc/os-release": osRelease, ...files },
				folders: { "/usr/bin": ["apt"] },
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
		const outcome = await check(OS_RELEASE.fedora, DNF, {
			[STAMPS]: changed(...days),
		});
		expect(outcome).toMatchObject({ status, evidence });
	});

	test.each([
		["no file exists", {}],
		["the time is in the future", { [STAMPS]: changed("2031-01-01") }],
		["stat prints something else", { [STAMPS]: "yesterday\n" }],
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
			await check(OS_RELEASE.fedora, {}, { [STAMPS]: changed("2020-01-01") }),
		).toEqual({ status: "FAIL", evidence: { mechanism: "none" } });
	});
});

const FRESH = { [STAMPS]: changed("2026-11-20") };

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
