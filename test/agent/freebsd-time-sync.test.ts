import { bsdTable } from "./freebsd-table.ts";
import { commands } from "./recorded-table.ts";
import { NAMES, NTP, runningWithout } from "./recordings/freebsd.ts";

bsdTable("TIME_SYNC", [
	[
		"ntpd that is synchronized",
		{},
		"PASS",
		{ service: "ntpd", synchronized: true },
	],
	[
		"ntpd without a source for days",
		commands({ [NTP]: "leap=11, stratum=16\n" }),
		"FAIL",
		{ service: "ntpd", synchronized: false },
	],
	[
		"ntpd without a source just after the start",
		{
			now: "2026-11-18T11:50:00Z",
			commands: {
				[NTP]: "leap=11, stratum=16\n",
				"sysctl -n kern.boottime":
					"{ sec = 1795002500, usec = 1 } Wed Nov 18 11:48:20 2026\n",
			},
		},
		"UNKNOWN",
		{ reason: "not_yet_synchronized", service: "ntpd", synchronized: false },
	],
	[
		"chrony",
		commands({
			[NAMES]: `${runningWithout("ntpd")}chronyd\n`,
			"chronyc -n tracking":
				"Reference ID    : A29FC801 (162.159.200.1)\nStratum         : 4\nLeap status     : Normal\n",
		}),
		"PASS",
		{ service: "chrony", synchronized: true },
	],
	[
		"OpenNTPD",
		commands({
			[NTP]: { exitCode: 1, stderr: "ntpq: read: Connection refused\n" },
			"ntpctl -s status": "4/4 peers valid, clock synced, stratum 3\n",
		}),
		"PASS",
		{ service: "openntpd", synchronized: true },
	],
	[
		"only ntpdate at the start",
		commands({ [NAMES]: runningWithout("ntpd") }),
		"FAIL",
		{ service: "none" },
	],
	[
		"a service that does not answer",
		{ without: [NTP] },
		"UNKNOWN",
		{ reason: "service_does_not_answer", service: "ntpd" },
	],
	[
		"a jail",
		commands({ "sysctl -n security.jail.jailed": "1\n" }),
		"NOT_APPLICABLE",
		{ reason: "jail" },
	],
]);
