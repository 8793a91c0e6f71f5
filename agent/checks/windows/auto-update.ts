import type { Evidence } from "../../../src/devices/terms.ts";
import { DAY_MS } from "../../../src/units.ts";
import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { daysSince, judgePatchAge, type PatchAge } from "../patch-age.ts";
import {
	type Answer,
	type Asked,
	ask,
	integer,
	moment,
	part,
	text,
} from "./powershell.ts";

/**
 * Services of other products that install updates. Most of them switch off Windows' own automatic
 * updates. The names are from the products' documentation and from scripts of their users.
 */
const MANAGERS: Record<string, string> = {
	CcmExec: "configuration_manager",
	NinjaRMMAgent: "ninjaone",
	amagent: "automox",
	"ManageEngine UEMS - Agent": "manageengine",
	"ManageEngine Desktop Central - Agent": "manageengine",
	"STDispatch$Shavlik Protect": "ivanti",
	BESClient: "bigfix",
	"Tanium Client": "tanium",
	A1Agent: "action1",
	PDQConnectAgent: "pdq_connect",
	CagService: "datto",
	AteraAgent: "atera",
};

/**
 * Reads `InstalledOn` as text, because PowerShell's own conversion depends on the display language.
 */
export const AUTO_UPDATE_SCRIPT = `
$policy = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\Windows\\WindowsUpdate'
$auto = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\Windows\\WindowsUpdate\\AU'
$managed = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\PolicyManager\\current\\device\\Update'
@{
  installation = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion').InstallationType
  noAutoUpdate = $auto.NoAutoUpdate
  policyOption = $auto.AUOptions
  useServer = $auto.UseWUServer
  serverIsNone = $(if ($policy.WUServer) { ([string] $policy.WUServer) -match '^(https?://)?(localhost|127\\.|0\\.0\\.0\\.0|\\[?::1|\\s*$)' } else { $true })
  accessDisabled = $policy.DisableWindowsUpdateAccess
  ownOption = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WindowsUpdate\\Auto Update').AUOptions
  managed = $managed.AllowAutoUpdate
  start = (Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\wuauserv').Start
  orchestratorStart = (Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\UsoSvc').Start
  pausedUntil = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\WindowsUpdate\\UX\\Settings').PauseUpdatesExpiryTime
  pauseStatus = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\WindowsUpdate\\UpdatePolicy\\Settings').PausedQualityStatus
  managedPause = $managed.PauseQualityUpdates
  managedPauseStart = [string] $managed.PauseQualityUpdatesStartTime
  policyPause = $policy.PauseQualityUpdates
  policyPauseStart = [string] $policy.PauseQualityUpdatesStartTime
  managers = Read-Part { Get-Service -Name ${Object.keys(MANAGERS)
		.map((name) => `'${name}'`)
		.join(
			", ",
		)} -ErrorAction SilentlyContinue | Where-Object { $_.Status -eq 'Running' } | ForEach-Object { @{ name = [string] $_.Name } } }
  search = Read-Part { $at = (New-Object -ComObject Microsoft.Update.AutoUpdate).Results.LastSearchSuccessDate
    if ($at) { @{ at = ([datetime] $at).ToString('yyyy-MM-ddTHH:mm:ssZ', [cultureinfo]::InvariantCulture) } } }
  installed = Read-Part { Get-CimInstance -ClassName Win32_QuickFixEngineering | ForEach-Object { @{ on = [string] $_.CimInstanceProperties['InstalledOn'].Value } } }
}
`;

/**
 * Asks Windows which updates it knows of and has not installed. The answer may take long, so it has
 * a process of its own, and the check does without it if it does not come in time.
 */
export const PENDING_UPDATES_SCRIPT = `
@{
  pending = Read-Part { $searcher = (New-Object -ComObject Microsoft.Update.Session).CreateUpdateSearcher(); $searcher.Online = $false
    $searcher.Search("IsInstalled=0 and IsHidden=0 and Type='Software' and BrowseOnly=0").Updates |
      ForEach-Object { @{ since = ([datetime] $_.LastDeploymentChangeTime).ToString('yyyy-MM-ddTHH:mm:ssZ', [cultureinfo]::InvariantCulture) } } }
}
`;

const DISABLED = 4;

/**
 * The meanings of `AUOptions` in group policy, of `AllowAutoUpdate` in device management, and of
 * the setting on servers.
 */
const OPTIONS: Record<number, string> = {
	1: "off",
	2: "notify",
	3: "download_only",
	4: "automatic",
	5: "local_choice",
	7: "download_only",
};
const MANAGED: Record<number, string> = {
	0: "notify",
	1: "automatic",
	2: "automatic",
	3: "automatic",
	4: "automatic",
	5: "off",
};

/** Days after which Windows resumes updates that a policy has paused. */
const PAUSE_DAYS = 35;
/** A pause that has ended. Windows has resumed the updates, although the policy is still there. */
const RESUMED = 2;

/**
 * Returns PASS if updates are installed automatically. By default a Windows client does that and a
 * server does not. While updates are paused, by the user or by a policy, the result is FAIL. The
 * source of the updates (WSUS, Intune, Configuration Manager) does not matter, but a policy that
 * points to no update server or to the device itself fails.
 *
 * The updates must also arrive: FAIL if an available update waits for more than 60 days, no search
 * has succeeded for that long, or nothing was installed for that long. Windows gets updates every
 * month. If another product installs the updates, it also searches itself, so only the last
 * installation counts. Configuration Manager always counts as such a product. Many organizations
 * use the others for other work, so they count only if Windows would not install updates itself.
 */
export async function autoUpdate(host: Host): Promise<CheckOutcome> {
	const [asked, waiting] = await Promise.all([
		ask(host, AUTO_UPDATE_SCRIPT),
		ask(host, PENDING_UPDATES_SCRIPT),
	]);
	if ("trouble" in asked) return asked.trouble;
	const { answer } = asked;
	const days = lastUpdateDays(answer, host.now);
	const outcome = judgeSettings(answer, days, host.now);
	if (outcome.evidence.reason === "unrecognized_output") return outcome;

	const managers = runningManagers(answer);
	if (managers.includes("configuration_manager")) {
		// The mode is that of Windows' own automatic updates, which Configuration Manager switches off.
		const { mode, source: _, update_server } = outcome.evidence;
		return judgeManaged(host, days, {
			...(mode !== undefined && { mode }),
			source: "configuration_manager",
			...(update_server === "wsus" && { update_server }),
		});
	}
	if (outcome.status === "PASS") {
		return judgePatchAge(
			host,
			outcome,
			patchAge(answer, waiting, days, host.now),
		);
	}
	const [manager] = managers;
	if (manager === undefined) return outcome;
	const { reason: _, ...evidence } = outcome.evidence;
	return judgeManaged(host, days, { ...evidence, manager });
}

/** Judges how Windows itself installs updates, without their age. */
function judgeSettings(
	answer: Answer,
	days: number | undefined,
	now: Date,
): CheckOutcome {
	const installation = text(answer.installation);
	const start = integer(answer.start);
	if (installation === undefined || start === undefined) {
		return unknown("unrecognized_output");
	}
	const { mode, source } = modeOf(answer, installation);
	const evidence = {
		...(mode ? { mode } : {}),
		source,
		...(integer(answer.useServer) === 1 ? { update_server: "wsus" } : {}),
		...(days === undefined ? {} : { last_update_days: days }),
	};
	if (start === DISABLED || integer(answer.orchestratorStart) === DISABLED) {
		return fail({ ...evidence, service_disabled: true });
	}
	if (integer(answer.accessDisabled) === 1) {
		return fail({ ...evidence, access_disabled: true });
	}
	const pause = pauseOf(answer, now);
	if (pause) return fail({ ...evidence, ...pause });
	if (integer(answer.useServer) === 1 && answer.serverIsNone === true) {
		return fail({ ...evidence, update_server: "none" });
	}
	if (mode === undefined) return unknown("no_setting", evidence);
	return mode === "automatic" ? pass(evidence) : fail(evidence);
}

function judgeManaged(
	host: Host,
	days: number | undefined,
	evidence: Evidence,
): CheckOutcome {
	return days === undefined
		? unknown("managed_elsewhere", evidence)
		: judgePatchAge(host, pass(evidence), { installDays: days });
}

function runningManagers(answer: Answer): string[] {
	const found = part(answer, "managers");
	const names =
		found.kind === "values"
			? found.values.map(({ name }) => text(name)?.toLowerCase())
			: [];
	return Object.entries(MANAGERS)
		.filter(([service]) => names.includes(service.toLowerCase()))
		.map(([, name]) => name);
}

/** Returns the pause that is in force, by the user or by a policy, for the evidence. */
function pauseOf(answer: Answer, now: Date): Evidence | undefined {
	const until = moment(answer.pausedUntil);
	if (until !== undefined && until > now.getTime()) {
		return { paused_until: dayOf(until) };
	}
	if (integer(answer.pauseStatus) === RESUMED) return undefined;
	return (
		policyPause(
			"device_management",
			integer(answer.managedPause),
			answer.managedPauseStart,
			now,
		) ??
		policyPause(
			"group_policy",
			integer(answer.policyPause),
			answer.policyPauseStart,
			now,
		)
	);
}

function policyPause(
	pausedBy: string,
	flag: number | undefined,
	start: unknown,
	now: Date,
): Evidence | undefined {
	if (flag === 0) return undefined;
	const from = moment(start);
	if (from === undefined)
		return flag === 1 ? { paused_by: pausedBy } : undefined;
	const until = from + PAUSE_DAYS * DAY_MS;
	return from <= now.getTime() && now.getTime() < until
		? { paused_by: pausedBy, paused_until: dayOf(until) }
		: undefined;
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

function modeOf(
	answer: Answer,
	installation: string,
): { mode: string | undefined; source: string } {
	if (integer(answer.noAutoUpdate) === 1) {
		return { mode: "off", source: "group_policy" };
	}
	const policy = OPTIONS[integer(answer.policyOption) ?? -1];
	// With the value 5, the policy leaves the choice to the device's own setting, which is read
	// below.
	if (policy && policy !== "local_choice") {
		return { mode: policy, source: "group_policy" };
	}
	const managed = MANAGED[integer(answer.managed) ?? -1];
	if (managed) return { mode: managed, source: "device_management" };
	if (installation === "Client") {
		return { mode: "automatic", source: "windows_default" };
	}
	const own = OPTIONS[integer(answer.ownOption) ?? -1];
	return {
		mode: own === "local_choice" ? undefined : own,
		source: "server_setting",
	};
}

function patchAge(
	answer: Answer,
	waiting: Asked,
	installDays: number | undefined,
	now: Date,
): PatchAge {
	const times = (from: Answer, name: string, field: string) => {
		const found = part(from, name);
		return found.kind === "values"
			? found.values
					.map((value) => daysSince(moment(value[field]), now))
					.filter((days) => days !== undefined)
			: [];
	};
	const searches = times(answer, "search", "at");
	const pending =
		"answer" in waiting ? times(waiting.answer, "pending", "since") : [];
	return {
		installDays,
		...(searches.length > 0 && { searchDays: Math.min(...searches) }),
		...(pending.length > 0 && { pendingDays: Math.max(...pending) }),
	};
}

function lastUpdateDays(answer: Answer, now: Date): number | undefined {
	const installed = part(answer, "installed");
	if (installed.kind !== "values") return undefined;
	const times = installed.values
		.map((update) => installedOn(text(update.on)))
		.filter((time) => time !== undefined)
		.filter((time) => time <= now.getTime());
	if (times.length === 0) return undefined;
	return Math.floor((now.getTime() - Math.max(...times)) / DAY_MS);
}

/**
 * Returns the time of an installation. Windows stores it as `11/13/2026` in every language, and on
 * some devices as a hexadecimal number of ticks.
 */
function installedOn(on: string | undefined): number | undefined {
	const match = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(on ?? "");
	if (!match) return undefined;
	const [, month, day, year] = match;
	const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
	return Number(month) <= 12 && Number(day) <= 31 ? time : undefined;
}
