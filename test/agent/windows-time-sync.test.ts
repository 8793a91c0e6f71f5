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
	trouble: NO_EVENT,
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
			"a running service of which no event says that it ever set the clock is UNKNOWN",
			clock({ type: "NT5DS", start: 2, event: NO_EVENT }),
			"UNKNOWN",
			{ reason: "synchronization_not_known", source: "domain" },
		],
		[
			"a source that never answered is UNKNOWN, because 36 needs a day of one run",
			clock({
				event: NO_EVENT,
				trouble: values({ at: "2026-11-21T07:00:00" }),
			}),
			"UNKNOWN",
			{ reason: "synchronization_not_known", source_unreachable: true },
		],
		[
			"a source that stopped answering three weeks ago is UNKNOWN",
			clock({
				event: values({ id: 37, at: "2026-10-30T07:12:41" }),
				trouble: values({ at: "2026-11-21T07:00:00" }),
			}),
			"UNKNOWN",
			{ source_unreachable: true, last_event_days: 22 },
		],
		[
			"a source that does not answer today, but did this week, passes",
			clock({ trouble: values({ at: "2026-11-21T07:00:00" }) }),
			"PASS",
			{ synchronized: true },
		],
		[
			"a server that has followed its source for months passes",
			clock({
				event: values({ id: 35, at: "2026-08-01T07:12:41" }),
				trouble: values({ at: "2026-08-01T07:12:30" }),
			}),
			"PASS",
			{ service_running: true },
		],
		[
			"events that cannot be read are UNKNOWN",
			clock({ event: { error: "SomethingElse" } }),
			"UNKNOWN",
			{ reason: "query_failed" },
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
