import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { type Answer, ask, integer, moment, part, text } from "./powershell.ts";

/**
 * Reads `InstalledOn` as text, because PowerShell's own conversion depends on the display language.
 */
export const AUTO_UPDATE_SCRIPT = `
$policy = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\Windows\\WindowsUpdate'
$auto = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\Windows\\WindowsUpdate\\AU'
$pause = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\WindowsUpdate\\UX\\Settings'
@{
  installation = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion').InstallationType
  noAutoUpdate = $auto.NoAutoUpdate
  policyOption = $auto.AUOptions
  useServer = $auto.UseWUServer
  accessDisabled = $policy.DisableWindowsUpdateAccess
  ownOption = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WindowsUpdate\\Auto Update').AUOptions
  managed = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\PolicyManager\\current\\device\\Update').AllowAutoUpdate
  start = (Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\wuauserv').Start
  orchestratorStart = (Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\UsoSvc').Start
  pausedUntil = $pause.PauseUpdatesExpiryTime
  manager = Read-Part { Get-Service -Name CcmExec -ErrorAction SilentlyContinue | Where-Object { $_.Status -eq 'Running' } | ForEach-Object { @{ running = $true } } }
  installed = Read-Part { Get-CimInstance -ClassName Win32_QuickFixEngineering | ForEach-Object { @{ on = [string] $_.CimInstanceProperties['InstalledOn'].Value } } }
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
const RECENT_DAYS = 45;

/**
 * Returns PASS if updates are installed automatically. By default a Windows client does that and a
 * server does not. While updates are paused, the result is FAIL. The source of the updates (WSUS,
 * Intune, Configuration Manager) does not matter.
 */
export async function autoUpdate(host: Host): Promise<CheckOutcome> {
	const asked = await ask(host, AUTO_UPDATE_SCRIPT);
	if ("trouble" in asked) return asked.trouble;
	const { answer } = asked;
	const installation = text(answer.installation);
	const start = integer(answer.start);
	if (installation === undefined || start === undefined) {
		return unknown("unrecognized_output");
	}

	const days = lastUpdateDays(answer, host.now);
	const { mode, source } = modeOf(answer, installation);
	const pausedUntil = moment(answer.pausedUntil);
	const isPaused =
		pausedUntil !== undefined && pausedUntil > host.now.getTime();
	const evidence = {
		...(mode ? { mode } : {}),
		source,
		...(integer(answer.useServer) === 1 ? { update_server: "wsus" } : {}),
		...(days === undefined ? {} : { last_update_days: days }),
	};

	const manager = part(answer, "manager");
	if (manager.kind === "values" && manager.values.length > 0) {
		// Configuration Manager switches off Windows' own automatic updates and installs updates
		// itself.
		const managed = { ...evidence, source: "configuration_manager" };
		return days !== undefined && days <= RECENT_DAYS
			? pass(managed)
			: unknown("managed_elsewhere", managed);
	}
	if (start === DISABLED || integer(answer.orchestratorStart) === DISABLED) {
		return fail({ ...evidence, service_disabled: true });
	}
	if (integer(answer.accessDisabled) === 1) {
		return fail({ ...evidence, access_disabled: true });
	}
	if (isPaused) {
		return fail({
			...evidence,
			paused_until: new Date(pausedUntil).toISOString().slice(0, 10),
		});
	}
	if (mode === undefined) return unknown("no_setting", evidence);
	return mode === "automatic" ? pass(evidence) : fail(evidence);
}

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

function lastUpdateDays(answer: Answer, now: Date): number | undefined {
	const installed = part(answer, "installed");
	if (installed.kind !== "values") return undefined;
	const times = installed.values
		.map((update) => installedOn(text(update.on)))
		.filter((time) => time !== undefined)
		.filter((time) => time <= now.getTime());
	if (times.length === 0) return undefined;
	return Math.floor((now.getTime() - Math.max(...times)) / 86_400_000);
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
