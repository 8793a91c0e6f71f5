import { describe, expect, test } from "vitest";
import {
	checkTimeSync,
	TIME_UNITS,
} from "../../agent/checks/linux/time-sync.ts";
import { recordedHost } from "./recorded-host.ts";
import {
	CONTAINER,
	linux,
	MACHINE,
	processes,
	type UnitState,
	units,
	WSL,
} from "./recordings/linux.ts";

describe("the clock", () => {
	const SHOW = "timedatectl show --property=NTPSynchronized";
	const TRACKING = "chronyc -n tracking";
	const NTPQ = "ntpq -n -c rv 0 leap,stratum";
	const tracking = (leap: string) =>
		`Reference ID    : C0000201 (192.0.2.1)\nStratum         : 3\nRef time (UTC)  : Sat Nov 21 11:58:02 2026\nSystem time     : 0.000012345 seconds fast of NTP time\nLeap status     : ${leap}\n`;
	const check = (
		states: Record<string, UnitState> | undefined,
		commands: Record<string, string>,
		files: Record<string, string> = {},
	) =>
		checkTimeSync(
			recordedHost(
				linux({
					files: {
						...MACHINE,
						"/proc/uptime": "86400.12 170000.00\n",
						...processes(),
						...files,
					},
					commands: { ...(states && units(TIME_UNITS, states)), ...commands },
				}),
			),
		);

	test.each([
		[
			"systemd-timesyncd that is synchronized",
			{ "systemd-timesyncd.service": "running" },
			{ [SHOW]: "NTPSynchronized=yes\n" },
			{},
			"PASS",
			{ service: "systemd-timesyncd", synchronized: true },
		],
		[
			"systemd-timesyncd that has not been synchronized for a day",
			{ "systemd-timesyncd.service": "running" },
			{ [SHOW]: "NTPSynchronized=no\n" },
			{},
			"FAIL",
			{ synchronized: false },
		],
		[
			"systemd-timesyncd just after the start",
			{ "systemd-timesyncd.service": "running" },
			{ [SHOW]: "NTPSynchronized=no\n" },
			{ "/proc/uptime": "95.20 300.00\n" },
			"UNKNOWN",
			{ reason: "not_yet_synchronized" },
		],
		[
			"no time service",
			{ "systemd-timesyncd.service": "stopped" },
			{ [SHOW]: "NTPSynchronized=no\n" },
			{},
			"FAIL",
			{ service: "none", synchronized: false },
		],
		[
			"a kernel that still says yes after the service was removed",
			{ "chrony.service": "stopped" },
			{ [SHOW]: "NTPSynchronized=yes\n" },
			{},
			"FAIL",
			{ service: "none", synchronized: true },
		],
		[
			"chrony without rtcsync, which does not tell the kernel",
			{ "chronyd.service": "running" },
			{ [SHOW]: "NTPSynchronized=no\n", [TRACKING]: tracking("Normal") },
			{},
			"PASS",
			{ service: "chrony", synchronized: true },
		],
		[
			"chrony and a kernel that both say no",
			{ "chronyd.service": "running" },
			{
				[SHOW]: "NTPSynchronized=no\n",
				[TRACKING]: tracking("Not synchronised"),
			},
			{},
			"FAIL",
			{ service: "chrony", synchronized: false },
		],
		[
			"chrony where there is no timedatectl",
			{ "chronyd.service": "running" },
			{ [TRACKING]: tracking("Normal") },
			{},
			"PASS",
			{ service: "chrony" },
		],
		[
			"chrony that has no source",
			{ "chronyd.service": "running" },
			{ [TRACKING]: tracking("Not synchronised") },
			{},
			"FAIL",
			{ service: "chrony", synchronized: false },
		],
		[
			"chrony that prints something else",
			{ "chronyd.service": "running" },
			{ [TRACKING]: "506 Cannot talk to daemon\n" },
			{},
			"UNKNOWN",
			{ service: "chrony" },
		],
		[
			"ntpd that is synchronized",
			{ "ntpsec.service": "running" },
			{ [NTPQ]: "leap=00, stratum=2\n" },
			{},
			"PASS",
			{ service: "ntpd" },
		],
		[
			"ntpd with an alarm",
			{ "ntp.service": "running" },
			{ [NTPQ]: "leap=11, stratum=16\n" },
			{},
			"FAIL",
			{ synchronized: false },
		],
		[
			"OpenNTPD",
			{ "openntpd.service": "running" },
			{ "ntpctl -s status": "4/4 peers valid, clock synced, stratum 3\n" },
			{},
			"PASS",
			{ service: "openntpd" },
		],
		[
			"OpenNTPD that is not synchronized",
			{ "openntpd.service": "running" },
			{ "ntpctl -s status": "0/4 peers valid, clock unsynced\n" },
			{},
			"FAIL",
			{},
		],
		[
			"an older timedatectl",
			{ "chronyd.service": "running" },
			{
				"timedatectl status":
					"      Local time: Sat 2026-11-21 12:00:00 UTC\n     NTP enabled: yes\nNTP synchronized: yes\n RTC in local TZ: no\n",
			},
			{},
			"PASS",
			{ service: "chrony" },
		],
		[
			"a service that systemd does not know",
			{},
			{ [SHOW]: "NTPSynchronized=yes\n" },
			processes({ name: "chronyd", uid: 998 }),
			"PASS",
			{ service: "chrony" },
		],
	] as const)("%s", async (_, states, commands, files, status, evidence) => {
		expect(await check(states, commands, files)).toMatchObject({
			status,
			evidence,
		});
	});

	test("a service in a container keeps no clock of the device", async () => {
		const files = {
			"/proc/4321/status":
				"Name:\tchronyd\nUid:\t0\t0\t0\t0\nNSpid:\t4321\t17\n",
		};
		expect(
			await check({}, { [SHOW]: "NTPSynchronized=yes\n" }, files),
		).toMatchObject({ status: "FAIL", evidence: { service: "none" } });
	});

	test("Alpine's own ntpd is judged by the kernel, through busybox", async () => {
		const files = {
			"/etc/alpine-release": "3.22.1\n",
			...processes({ name: "ntpd" }),
		};
		const adjtimex = (status: string) =>
			`    mode:         0\n-o  offset:       0 us\n    status:       ${status}\n`;
		expect(
			(
				await check(
					undefined,
					{ "busybox adjtimex": adjtimex("8193 (PLL | NANO)") },
					files,
				)
			).status,
		).toBe("PASS");
		expect(
			(
				await check(
					undefined,
					{ "busybox adjtimex": adjtimex("64 (UNSYNC)") },
					files,
				)
			).status,
		).toBe("FAIL");
	});

	test("the check does not apply to a container and to WSL, which use the clock of their host", async () => {
		for (const [files, reason] of [
			[CONTAINER, "container"],
			[WSL, "wsl"],
		] as const) {
			expect(await check({}, {}, files)).toEqual({
				status: "NOT_APPLICABLE",
				evidence: { reason },
			});
		}
	});

	test("without a service manager and a list of processes the result is unknown", async () => {
		const host = recordedHost(linux({ files: MACHINE }));
		expect((await checkTimeSync(host)).status).toBe("UNKNOWN");
		const synchronized = recordedHost(
			linux({
				files: MACHINE,
				commands: { [SHOW]: "NTPSynchronized=yes\n" },
			}),
		);
		expect(await checkTimeSync(synchronized)).toMatchObject({
			status: "UNKNOWN",
			evidence: { reason: "service_manager_not_recognized" },
		});
	});
});
