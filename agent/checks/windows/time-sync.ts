import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import {
	ask,
	daysSince,
	integer,
	moment,
	part,
	text,
	whyUnread,
} from "./powershell.ts";

/**
 * Reads the settings, the service, and the events that the time service itself has logged: 35
 * (synchronizing now), 37 (valid time received) and 36 (not synchronized for a day); and, as
 * `trouble`, those about a source that does not answer (24, 29, 38, 47) or is not found (129, 130,
 * 131, 134). The script does not run `w32tm`, because it answers in the display language.
 */
export const TIME_SYNC_SCRIPT = `
@{
  type = (Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\W32Time\\Parameters').Type
  policyType = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\W32Time\\Parameters').Type
  client = (Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\W32Time\\TimeProviders\\NtpClient').Enabled
  policyClient = (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Microsoft\\W32Time\\TimeProviders\\NtpClient').Enabled
  start = (Reg 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\W32Time').Start
  service = Read-Part { @{ running = ((Get-Service -Name W32Time).Status -eq 'Running') } }
  event = Read-Part { Get-WinEvent -FilterHashtable @{ LogName = 'System'; ProviderName = 'Microsoft-Windows-Time-Service'; Id = 35, 36, 37 } -MaxEvents 1 |
    ForEach-Object { @{ id = $_.Id; at = $_.TimeCreated.ToUniversalTime().ToString('s') } } }
  trouble = Read-Part { Get-WinEvent -FilterHashtable @{ LogName = 'System'; ProviderName = 'Microsoft-Windows-Time-Service'; Id = 24, 29, 38, 47, 129, 130, 131, 134 } -MaxEvents 1 |
    ForEach-Object { @{ at = $_.TimeCreated.ToUniversalTime().ToString('s') } } }
  others = Read-Part { Get-Service -Name 'NTP', 'chronyd', 'DomTimeC' -ErrorAction SilentlyContinue | Where-Object { $_.Status -eq 'Running' } |
    ForEach-Object { @{ name = [string] $_.Name } } }
}
`;

const TYPES: Record<string, string> = {
	ntp: "ntp",
	nt5ds: "domain",
	allsync: "all",
	nosync: "none",
};
const OTHER_ENGINES: Record<string, string> = {
	ntp: "ntpd",
	chronyd: "chrony",
	domtimec: "domain_time",
};
const DISABLED = 4;
const NOT_SYNCHRONIZED = 36;

/**
 * The greatest number of days since the last synchronization. If the time service does not run all
 * the time, a weekly task synchronizes the device.
 */
const RECENT_DAYS = 14;

/**
 * Returns PASS if the time service is set to follow a source and one of its events proves that it
 * did: within 14 days, or before that if it still runs and has not complained about its source
 * since. Event 36 comes only after a whole day of one run without a source, so its absence proves
 * nothing about a laptop that is switched on each morning. Returns FAIL if 36 is the newest event.
 */
export async function timeSync(host: Host): Promise<CheckOutcome> {
	const asked = await ask(host, TIME_SYNC_SCRIPT);
	if ("trouble" in asked) return asked.trouble;
	const { answer } = asked;

	const others = part(answer, "others");
	const engine =
		others.kind === "values"
			? OTHER_ENGINES[text(others.values[0]?.name)?.toLowerCase() ?? ""]
			: undefined;
	const type =
		TYPES[(text(answer.policyType) ?? text(answer.type))?.toLowerCase() ?? ""];
	const client = integer(answer.policyClient) ?? integer(answer.client);
	const start = integer(answer.start);
	const isOff =
		start === DISABLED || type === "none" || (client === 0 && type === "ntp");
	if (isOff) {
		const off = {
			service: "w32time",
			service_disabled: start === DISABLED,
			...(type ? { source: type } : {}),
		};
		// Another program may keep the clock synchronized, but the check cannot ask that program.
		return engine ? unknown("third_party_service", { engine }) : fail(off);
	}
	if (type === undefined || start === undefined) {
		return unknown("unrecognized_output");
	}

	const service = part(answer, "service");
	const running =
		service.kind === "values" ? service.values[0]?.running : undefined;
	if (typeof running !== "boolean") return unknown(whyUnread(host, service));
	const event = part(answer, "event");
	const newest = event.kind === "values" ? event.values[0] : undefined;
	const days = daysSince(newest?.at, host.now);
	const evidence = {
		service: "w32time",
		service_running: running,
		source: type,
		...(days === undefined ? {} : { last_event_days: days }),
	};
	if (integer(newest?.id) === NOT_SYNCHRONIZED) {
		return fail({ ...evidence, synchronized: false });
	}
	if (days !== undefined && days <= RECENT_DAYS) {
		return pass({ ...evidence, synchronized: true });
	}
	if (!running) return unknown("service_not_running", evidence);
	const trouble = part(answer, "trouble");
	const unread = [event, trouble].find(
		({ kind }) => kind !== "values" && kind !== "absent",
	);
	if (unread) return unknown(whyUnread(host, unread), evidence);
	const complaint =
		trouble.kind === "values" ? moment(trouble.values[0]?.at) : undefined;
	const isUnreachable =
		complaint !== undefined && complaint > (moment(newest?.at) ?? 0);
	return days === undefined || isUnreachable
		? unknown("synchronization_not_known", {
				...evidence,
				...(isUnreachable && { source_unreachable: true }),
			})
		: pass(evidence);
}
