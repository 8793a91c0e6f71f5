import { describe } from "vitest";
import {
	OS_VERSION_SCRIPT,
	osVersion,
} from "../../agent/checks/windows/os-version.ts";
import { cases } from "./windows-cases.ts";
import { values } from "./windows-recording.ts";

const system = (build: string, edition: string, fields: object = {}) => ({
	build,
	revision: 2605,
	edition,
	installation: "Client",
	licenses: values(),
	...fields,
});

describe("OS_VERSION on Windows", () => {
	cases(osVersion, OS_VERSION_SCRIPT, [
		[
			"a release in service passes",
			system("26200", "Professional"),
			"PASS",
			{ build: 26200, release: "25H2", supported_until: "2027-10-12" },
		],
		[
			"a release past its end fails",
			system("22631", "Core"),
			"FAIL",
			{ release: "23H2", supported_until: "2025-11-11" },
		],
		[
			"a business edition is serviced longer",
			system("26100", "Enterprise"),
			"PASS",
			{ supported_until: "2027-10-12" },
		],
		[
			"the same build of the Pro edition is not serviced longer",
			system("26100", "Professional"),
			"FAIL",
			{ supported_until: "2026-10-13" },
		],
		[
			"the long-term channel has dates of its own",
			system("19044", "IoTEnterpriseS"),
			"PASS",
			{ supported_until: "2032-01-13" },
		],
		[
			"the last day is still in service",
			system("26100", "Core"),
			"PASS",
			{},
			{ now: "2026-10-13T23:00:00Z" },
		],
		[
			"a server is judged as a server",
			system("17763", "ServerStandard", { installation: "Server Core" }),
			"PASS",
			{ release: "2019", supported_until: "2029-01-09" },
		],
		[
			"a server of the semi-annual channel fails",
			system("19042", "ServerStandardACor", { installation: "Server Core" }),
			"FAIL",
			{ supported_until: "2022-08-09" },
		],
		[
			"Windows 10 fails without extended updates",
			system("19045", "Professional", { revision: 6456 }),
			"FAIL",
			{ extended_updates: false },
		],
		[
			"Windows 10 passes in its second year of extended updates",
			system("19045", "Enterprise", {
				revision: 7184,
				licenses: values(
					{ id: "f520e45e-7413-4a34-a497-d2765967d094", status: 1 },
					{ id: "1043add5-23b1-4afb-9a0f-64343c8f3f8d", status: 1 },
				),
			}),
			"PASS",
			{ extended_updates: true, supported_until: "2027-10-12" },
		],
		[
			"Windows 10 with extended updates but no visible license is UNKNOWN",
			system("19045", "Core", { revision: 7184 }),
			"UNKNOWN",
			{ reason: "extended_updates_unconfirmed" },
		],
		[
			"a build newer than the agent is UNKNOWN",
			system("29500", "Professional"),
			"UNKNOWN",
			{ reason: "unknown_build", build: 29500 },
		],
	]);
});
