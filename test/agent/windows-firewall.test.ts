import { describe } from "vitest";
import {
	FIREWALL_SCRIPT,
	firewall,
} from "../../agent/checks/windows/firewall.ts";
import { cases } from "./windows-cases.ts";
import { NO_NAMESPACE, values } from "./windows-recording.ts";

const profile = (name: string, enabled: number, inbound = 4) => ({
	name,
	enabled,
	inbound,
});
const wall = (fields: object) => ({
	profiles: values(
		profile("Domain", 1),
		profile("Private", 1),
		profile("Public", 1),
	),
	service: values({ running: true }),
	products: NO_NAMESPACE,
	...fields,
});

describe("FIREWALL_ENABLED on Windows", () => {
	cases(firewall, FIREWALL_SCRIPT, [
		[
			"all three profiles on passes",
			wall({}),
			"PASS",
			{ engine: "windows_firewall", public_profile_enabled: true },
		],
		[
			"one profile off fails",
			wall({
				profiles: values(
					profile("Domain", 1),
					profile("Private", 0),
					profile("Public", 1),
				),
			}),
			"FAIL",
			{ private_profile_enabled: false, domain_profile_enabled: true },
		],
		[
			"a profile that lets everything in fails",
			wall({
				profiles: values(
					profile("Domain", 1, 2),
					profile("Private", 1),
					profile("Public", 1),
				),
			}),
			"FAIL",
			{ inbound_allowed_by_default: true },
		],
		[
			"a service whose state cannot be read is UNKNOWN",
			wall({ service: { error: "RuntimeException" } }),
			"UNKNOWN",
			{ reason: "service_state_unknown" },
		],
		[
			"a stopped firewall service fails",
			wall({ service: values({ running: false }) }),
			"FAIL",
			{ service_running: false },
		],
		[
			"another firewall that is on passes",
			wall({
				profiles: values(profile("Domain", 0)),
				products: values({ productState: 266256 }),
			}),
			"PASS",
			{ engine: "third_party" },
		],
		[
			"another firewall that is off does not help",
			wall({
				profiles: values(
					profile("Domain", 0),
					profile("Private", 0),
					profile("Public", 0),
				),
				products: values({ productState: 262160 }),
			}),
			"FAIL",
			{ public_profile_enabled: false },
		],
		[
			"a missing profile is not understood",
			wall({ profiles: values(profile("Domain", 1)) }),
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"an ordinary user learns that the check needs an administrator",
			wall({
				profiles: { error: "Windows System Error 5,Get-NetFirewallProfile" },
			}),
			"UNKNOWN",
			{ reason: "needs_administrator" },
			{ isPrivileged: false },
		],
	]);
});
