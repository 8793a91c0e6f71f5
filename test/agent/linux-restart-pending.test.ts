import { describe, expect, test } from "vitest";
import { UPDATE_UNITS } from "../../agent/checks/linux/auto-update.ts";
import { restartStampArgs } from "../../agent/checks/linux/restart-pending.ts";
import type { CommandResult } from "../../agent/host.ts";
import { makeLog } from "../../agent/log.ts";
import { runChecksHere } from "../../agent/session.ts";
import { explain } from "../../src/devices/remediation/remediation.ts";
import { DEFAULT_THRESHOLDS } from "../../src/devices/thresholds.ts";
import { makeAgentFolder } from "./folders.ts";
import { recordedHost } from "./recorded-host.ts";
import {
	type Files,
	linux,
	MACHINE,
	OS_RELEASE,
	searchedOn,
	units,
} from "./recordings/linux.ts";

const BOOT = "0f9b7a52-6a0e-4a3e-9d1c-1f2e3d4c5b6a";
const RUNNING = "6.8.0-49-generic";
const DAY_S = 86_400;
const seconds = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

/** Files of a device that was started on a day. `kernels` are installed beside the running one. */
const started = (
	day: string,
	today: string,
	kernels: string[] = [],
): Files => ({
	...MACHINE,
	"/etc/os-release": OS_RELEASE.ubuntu,
	"/usr/bin/unattended-upgrade": "",
	"/proc/uptime": `${seconds(today) + DAY_S / 2 - seconds(day)}.12 3.00\n`,
	"/proc/sys/kernel/random/boot_id": `${BOOT}\n`,
	...Object.fromEntries(
		[RUNNING, ...kernels].map((name) => [
			`/usr/lib/modules/${name}/modules.builtin`,
			"",
		]),
	),
});

/** Returns stat's answer about a flag in /run, and about newer kernels that were installed then. */
function stat(
	flags: Record<string, string>,
	kernels: Record<string, string> = {},
): Record<string, Partial<CommandResult>> {
	const line = (day: string, path: string) =>
		`${seconds("2020-01-01")} ${seconds(day)} ${path}\n`;
	return {
		[["stat", ...restartStampArgs(Object.keys(kernels))].join(" ")]: {
			exitCode: 1,
			stdout: [
				...Object.entries(flags).map(
					([path, day]) => `${seconds(day)} ${seconds(day)} ${path}\n`,
				),
				...Object.entries(kernels).map(([name, day]) =>
					line(day, `/usr/lib/modules/${name}/modules.builtin`),
				),
			].join(""),
		},
	};
}

const REQUIRED = "/run/reboot-required";

/** Checks the updates of a device at noon of a day. */
async function checkOn(
	day: string,
	files: Files,
	commands: Record<string, Partial<CommandResult>>,
	folder = "/does/not/exist",
) {
	const host = recordedHost(
		linux({
			now: `${day}T12:00:00Z`,
			files,
			commands: {
				...units(UPDATE_UNITS, {
					"apt-daily.timer": "running",
					"apt-daily-upgrade.timer": "running",
				}),
				"apt-config dump":
					'APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "1";\nUnattended-Upgrade::Allowed-Origins:: "Ubuntu:noble-security";\n',
				...searchedOn([`${day}T11:00:00Z`]),
				...commands,
			},
		}),
	);
	const results = await runChecksHere(
		host,
		makeLog("error", () => {}),
		new AbortController().signal,
		DEFAULT_THRESHOLDS,
		folder,
		true,
	);
	const result = results.find(({ check_key }) => check_key === "AUTO_UPDATE");
	if (!result) throw new Error("there is no result");
	return result;
}

describe("a restart that is due", () => {
	test("fails the check 61 days after the agent first saw it, although each update renews the file", async () => {
		const folder = await makeAgentFolder();
		const on = (day: string) =>
			checkOn(
				day,
				started("2026-01-01", day),
				stat({ [REQUIRED]: day }),
				folder,
			);
		expect(await on("2026-01-10")).toMatchObject({
			status: "PASS",
			evidence: { restart_pending_days: 0 },
		});
		expect(await on("2026-03-11")).toMatchObject({
			status: "PASS",
			evidence: { restart_pending_days: 60 },
		});
		const late = await on("2026-03-12");
		expect(late).toMatchObject({
			status: "FAIL",
			evidence: {
				restart_pending_days: 61,
				last_search_days: 0,
				overdue: "restart_pending_days",
			},
		});
		expect(explain({ platform: "LINUX", ...late })).toMatchObject({
			reason:
				"installed updates have waited for a restart for 61 days; at most 60 days are allowed",
			remediation: expect.stringContaining("restart the device"),
		});
	});

	test("is forgotten after the restart, and when the device no longer asks for it", async () => {
		const folder = await makeAgentFolder();
		const on = (day: string, boot: string, flags: Record<string, string>) =>
			checkOn(
				day,
				{
					...started("2026-01-01", day),
					"/proc/sys/kernel/random/boot_id": `${boot}\n`,
				},
				stat(flags),
				folder,
			);
		const again = { status: "PASS", evidence: { restart_pending_days: 0 } };
		await on("2026-01-10", BOOT, { [REQUIRED]: "2026-01-10" });
		const other = BOOT.replace("0f9b", "1234");
		expect(
			await on("2026-04-01", other, { [REQUIRED]: "2026-04-01" }),
		).toMatchObject(again);
		const none = await on("2026-04-02", other, {});
		expect(none.evidence).not.toHaveProperty("restart_pending_days");
		expect(
			await on("2026-07-01", other, { [REQUIRED]: "2026-07-01" }),
		).toMatchObject(again);
	});

	test.each([
		[REQUIRED],
		["/run/reboot-needed"],
		["/run/ostree/staged-deployment"],
	])("is as old as %s, also without notes", async (flag) => {
		expect(
			await checkOn(
				"2026-03-12",
				started("2026-01-01", "2026-03-12"),
				stat({ [flag]: "2026-01-10" }),
			),
		).toMatchObject({ status: "FAIL", evidence: { restart_pending_days: 61 } });
	});

	test.each([
		["was installed after the start", "6.8.0-51-generic", "2026-01-10", 61],
		[
			"was installed before the start, which did not choose it",
			"6.8.0-51-generic",
			"2025-12-10",
			undefined,
		],
		["is older", "6.8.0-48-generic", "2026-01-10", undefined],
		["is of another kind", "6.8.0-51-lowlatency", "2026-01-10", undefined],
	])("a kernel that %s", async (_, kernel, installed, days) => {
		const result = await checkOn(
			"2026-03-12",
			started("2026-01-01", "2026-03-12", [kernel]),
			{ ...stat({}), ...stat({}, { [kernel]: installed }) },
		);
		expect(result.evidence.restart_pending_days).toBe(days);
		expect(result.status).toBe(days === undefined ? "PASS" : "FAIL");
	});

	test.each([
		["6.11.4-301.fc41.x86_64", "6.12.7-200.fc42.x86_64"],
		["5.14.0-503.11.1.el9_5.x86_64", "5.14.0-570.12.1.el9_6.x86_64"],
		["6.12.48+deb13-amd64", "6.12.57+deb13-amd64"],
		["6.4.0-150600.23.7-default", "6.4.0-150600.23.33-default"],
	])("%s must give way to %s", async (running, newer) => {
		const result = await checkOn(
			"2026-03-12",
			{
				...started("2026-01-01", "2026-03-12", [newer]),
				"/proc/sys/kernel/osrelease": `${running}\n`,
			},
			stat({}, { [newer]: "2026-03-01" }),
		);
		expect(result.evidence).toMatchObject({ restart_pending_days: 11 });
	});

	test("does not fail a kernel that is patched while it runs", async () => {
		const day = "2026-03-12";
		const files = {
			...started("2026-01-01", day),
			"/sys/kernel/livepatch/lkp_Ubuntu_6_8_0_49/enabled": "1\n",
		};
		expect(
			await checkOn(day, files, stat({ [REQUIRED]: "2026-01-10" })),
		).toMatchObject({
			status: "PASS",
			evidence: { restart_pending_days: 61, live_patches: true },
		});
	});

	test("fails also if nothing tells the age of the updates", async () => {
		const day = "2026-03-12";
		const { evidence, status } = await checkOn(
			day,
			started("2026-01-01", day),
			{
				...stat({ [REQUIRED]: "2026-01-10" }),
				...searchedOn([], ["unattended-upgrades"]),
			},
		);
		expect(status).toBe("FAIL");
		expect(evidence).not.toHaveProperty("reason");
	});
});
