import { describe, expect, test } from "vitest";
import {
	AUTO_UPDATE_SCRIPT,
	autoUpdate,
	PENDING_UPDATES_SCRIPT,
} from "../../agent/checks/windows/auto-update.ts";
import { powershellArgs } from "../../agent/checks/windows/powershell.ts";
import { cases } from "./windows-cases.ts";
import { values, windowsHost } from "./windows-recording.ts";

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
			"Windows with its defaults passes",
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
			"a last update 620 days ago fails",
			update({ installed: values({ on: "3/11/2025" }) }),
			"FAIL",
			{ last_update_days: 620, patches_current: false },
		],
		[
			"a search that last succeeded 90 days ago fails",
			update({ search: values({ at: "2026-08-23T00:00:00Z" }) }),
			"FAIL",
			{ last_search_days: 90 },
		],
		[
			"a search yesterday passes",
			update({
				search: values({ at: "2026-11-20T00:00:00Z" }),
			}),
			"PASS",
			{ last_search_days: 1, last_update_days: 10 },
		],
		[
			"updates of unknown age are UNKNOWN",
			update({ installed: values() }),
			"UNKNOWN",
			{ reason: "patch_age_not_known" },
		],
		[
			"a policy that points to no update server fails",
			update({ policyOption: 4, useServer: 1, serverIsNone: true }),
			"FAIL",
			{ update_server: "none" },
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
			"a server without settings is UNKNOWN",
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
			"Configuration Manager that installed nothing for long fails",
			update({
				noAutoUpdate: 1,
				manager: values({ running: true }),
				installed: values({ on: "3/11/2026" }),
			}),
			"FAIL",
			{ overdue: "last_update_days", last_update_days: 255 },
		],
		[
			"Configuration Manager whose last installation is unknown is UNKNOWN",
			update({
				noAutoUpdate: 1,
				manager: values({ running: true }),
				installed: values(),
			}),
			"UNKNOWN",
			{ reason: "managed_elsewhere" },
		],
	]);
});

test.each([
	["2026-09-21T00:00:00Z", "FAIL", 61],
	["2026-09-22T00:00:00Z", "PASS", 60],
])("an update that has waited since %s: %s", async (since, status, days) => {
	const host = windowsHost(AUTO_UPDATE_SCRIPT, update({}), {
		commands: {
			[["powershell.exe", ...powershellArgs(PENDING_UPDATES_SCRIPT)].join(" ")]:
				JSON.stringify({
					pending: values({ since: "2026-11-20T00:00:00Z" }, { since }),
				}),
		},
	});
	expect(await autoUpdate(host)).toMatchObject({
		status,
		evidence: { pending_update_days: days },
	});
});
