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
	pauseStatus: null,
	managedPause: null,
	managedPauseStart: "",
	policyPause: null,
	policyPauseStart: "",
	managers: values(),
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
			update({ noAutoUpdate: 1, managers: values({ name: "CcmExec" }) }),
			"PASS",
			{ source: "configuration_manager" },
		],
		[
			"Configuration Manager that installed nothing for long fails",
			update({
				noAutoUpdate: 1,
				managers: values({ name: "CcmExec" }),
				installed: values({ on: "3/11/2026" }),
			}),
			"FAIL",
			{ overdue: "last_update_days", last_update_days: 255 },
		],
		[
			"Configuration Manager whose last installation is unknown is UNKNOWN",
			update({
				noAutoUpdate: 1,
				managers: values({ name: "CcmExec" }),
				installed: values(),
			}),
			"UNKNOWN",
			{ reason: "managed_elsewhere" },
		],
		[
			"Configuration Manager decides also if Windows has its defaults",
			update({ managers: values({ name: "CcmExec" }) }),
			"PASS",
			{ mode: "automatic", source: "configuration_manager" },
		],
		[
			"another product that installed this month passes",
			update({ noAutoUpdate: 1, managers: values({ name: "ninjarmmagent" }) }),
			"PASS",
			{ mode: "off", manager: "ninjaone", last_update_days: 10 },
		],
		[
			"another product passes although it disabled the update service",
			update({
				start: 4,
				managers: values({ name: "ManageEngine UEMS - Agent" }),
			}),
			"PASS",
			{ service_disabled: true, manager: "manageengine" },
		],
		[
			"a server without settings that another product updates passes",
			update({
				installation: "Server",
				managers: values({ name: "BESClient" }),
			}),
			"PASS",
			{ manager: "bigfix" },
		],
		[
			"another product that installed nothing for long fails",
			update({
				noAutoUpdate: 1,
				managers: values({ name: "amagent" }),
				installed: values({ on: "3/11/2026" }),
			}),
			"FAIL",
			{ manager: "automox", overdue: "last_update_days" },
		],
		[
			"another product whose last installation is unknown is UNKNOWN",
			update({
				policyOption: 2,
				managers: values({ name: "Tanium Client" }),
				installed: values(),
			}),
			"UNKNOWN",
			{ reason: "managed_elsewhere", manager: "tanium" },
		],
		[
			"a product that only watches a device changes nothing about Windows' own updates",
			update({
				managers: values({ name: "NinjaRMMAgent" }),
				search: values({ at: "2026-08-23T00:00:00Z" }),
			}),
			"FAIL",
			{ source: "windows_default", overdue: "last_search_days" },
		],
		[
			"updates that Intune has paused fail",
			update({
				managed: 2,
				managedPause: 1,
				managedPauseStart: "2026-11-02",
				pauseStatus: 1,
			}),
			"FAIL",
			{ paused_by: "device_management", paused_until: "2026-12-07" },
		],
		[
			"updates that a group policy has paused fail",
			update({ policyPauseStart: "2026-11-20" }),
			"FAIL",
			{ paused_by: "group_policy", paused_until: "2026-12-25" },
		],
		[
			"a pause without a start fails until Windows says that it has resumed",
			update({ managedPause: 1 }),
			"FAIL",
			{ paused_by: "device_management" },
		],
		[
			"a pause that Windows has ended passes",
			update({ managedPause: 1, pauseStatus: 2 }),
			"PASS",
			{ mode: "automatic" },
		],
		[
			"a pause of 35 days that is over passes",
			update({ managedPause: 1, managedPauseStart: "2026-10-17" }),
			"PASS",
			{ mode: "automatic" },
		],
		[
			"a pause that management has taken back passes",
			update({ managedPause: 0, managedPauseStart: "2026-11-20" }),
			"PASS",
			{ mode: "automatic" },
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
