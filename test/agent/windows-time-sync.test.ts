import { describe } from "vitest";
import {
	TIME_SYNC_SCRIPT,
	timeSync,
} from "../../agent/checks/windows/time-sync.ts";
import { cases } from "./windows-cases.ts";
import { NO_EVENT, NO_SERVICE, values } from "./windows-recording.ts";

const clock = (fields: object) => ({
	type: "NTP",
	policyType: null,
	client: 1,
	policyClient: null,
	start: 3,
	service: values({ running: true }),
	event: values({ id: 35, at: "2026-11-20T07:12:41" }),
	others: values(),
	...fields,
});

describe("TIME_SYNC on Windows", () => {
	cases(timeSync, TIME_SYNC_SCRIPT, [
		[
			"a running service that follows a source passes",
			clock({}),
			"PASS",
			{ source: "ntp", synchronized: true, last_event_days: 1 },
		],
		[
			"a domain member whose log was cleared passes on its running service",
			clock({ type: "NT5DS", start: 2, event: NO_EVENT }),
			"PASS",
			{ source: "domain", service_running: true },
		],
		[
			"a stopped service that synchronized this week passes",
			clock({ service: values({ running: false }) }),
			"PASS",
			{ service_running: false, synchronized: true },
		],
		[
			"a service that lost its source fails",
			clock({ event: values({ id: 36, at: "2026-11-21T03:00:00" }) }),
			"FAIL",
			{ synchronized: false },
		],
		[
			"a source that is switched off fails",
			clock({ type: "NoSync" }),
			"FAIL",
			{ source: "none" },
		],
		[
			"a disabled service fails",
			clock({ start: 4, service: values({ running: false }) }),
			"FAIL",
			{ service_disabled: true },
		],
		[
			"another program that keeps the clock is UNKNOWN",
			clock({ type: "NoSync", others: values({ name: "NTP" }) }),
			"UNKNOWN",
			{ reason: "third_party_service", engine: "ntpd" },
		],
		[
			"a policy takes precedence over the setting",
			clock({ policyType: "NoSync" }),
			"FAIL",
			{ source: "none" },
		],
		[
			"a stopped service without an event is UNKNOWN",
			clock({ service: values({ running: false }), event: NO_EVENT }),
			"UNKNOWN",
			{ reason: "service_not_running" },
		],
		[
			"a device without the service is UNKNOWN",
			clock({ service: NO_SERVICE }),
			"UNKNOWN",
			{ reason: "not_available" },
		],
	]);
});
