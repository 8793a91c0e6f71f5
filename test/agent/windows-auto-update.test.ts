import { describe } from "vitest";
import {
	AUTO_UPDATE_SCRIPT,
	autoUpdate,
} from "../../agent/checks/windows/auto-update.ts";
import { cases } from "./windows-cases.ts";
import { values } from "./windows-recording.ts";

const update = (fields: object) => ({
	installation: "Client",
	noAutoUpdate: null,
	policyOption: null,
	useServer: null,
	accessDisabled: null,
	ownOption: null,
	managed: null,
	start: 3,
	orchestratorStart: 2,
	pausedUntil: null,
	manager: values(),
	installed: values({ on: "10/14/2026" }, { on: "11/11/2026" }, { on: "" }),
	...fields,
});

describe("AUTO_UPDATE on Windows", () => {
	cases(autoUpdate, AUTO_UPDATE_SCRIPT, [
		[
			"Windows as it comes passes",
			update({}),
			"PASS",
			{ mode: "automatic", source: "windows_default", last_update_days: 10 },
		],
		[
			"a policy to install from an update server passes",
			update({ policyOption: 4, useServer: 1 }),
			"PASS",
			{ source: "group_policy", update_server: "wsus" },
		],
		[
			"management that installs passes",
			update({ managed: 2 }),
			"PASS",
			{ source: "device_management" },
		],
		[
			"a policy against updates fails",
			update({ noAutoUpdate: 1 }),
			"FAIL",
			{ mode: "off" },
		],
		[
			"a policy that only notifies fails",
			update({ policyOption: 2 }),
			"FAIL",
			{ mode: "notify" },
		],
		[
			"a disabled update service fails",
			update({ start: 4 }),
			"FAIL",
			{ service_disabled: true },
		],
		[
			"paused updates fail",
			update({ pausedUntil: "2026-12-05T09:00:00Z" }),
			"FAIL",
			{ paused_until: "2026-12-05" },
		],
		[
			"a pause that is over passes",
			update({ pausedUntil: "2026-11-05T09:00:00Z" }),
			"PASS",
			{ mode: "automatic" },
		],
		[
			"a server that only downloads fails",
			update({ installation: "Server", ownOption: 3 }),
			"FAIL",
			{ mode: "download_only", source: "server_setting" },
		],
		[
			"a server with nothing set is not known",
			update({ installation: "Server Core" }),
			"UNKNOWN",
			{ reason: "no_setting" },
		],
		[
			"Configuration Manager that installed this month passes",
			update({ noAutoUpdate: 1, manager: values({ running: true }) }),
			"PASS",
			{ source: "configuration_manager" },
		],
		[
			"Configuration Manager that installed nothing for long is not known",
			update({
				noAutoUpdate: 1,
				manager: values({ running: true }),
				installed: values({ on: "3/11/2026" }),
			}),
			"UNKNOWN",
			{ reason: "managed_elsewhere", last_update_days: 255 },
		],
	]);
});
