import { ask, integer, part, text } from "../checks/windows/powershell.ts";
import { CLIENT_RELEASES } from "../checks/windows/releases.ts";
import type { FactFinder } from "../facts.ts";
import { realSerial, realUuid } from "./firmware.ts";

export const FACTS_SCRIPT = `
$windows = Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion'
@{
  product = Read-Part { Get-CimInstance -ClassName Win32_ComputerSystemProduct | Select-Object 'UUID' }
  bios = Read-Part { Get-CimInstance -ClassName Win32_BIOS | Select-Object 'SerialNumber' }
  machineGuid = [string] (Reg 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography').MachineGuid
  name = [string] $windows.ProductName
  version = [string] $windows.DisplayVersion
  olderVersion = [string] $windows.ReleaseId
  build = $windows.CurrentBuildNumber
  revision = $windows.UBR
  installation = [string] $windows.InstallationType
}
`;

/** The first build of Windows 11. The registry of Windows 11 still says Windows 10. */
const WINDOWS_11 = 22_000;

/**
 * Returns the facts, with the firmware's UUID. If the firmware only has a placeholder, or this user
 * may not ask for it, the agent uses the id of the Windows installation, which changes when Windows
 * is installed again. A query that fails in another way may succeed the next time, so the id of the
 * installation does not replace its answer.
 */
export const findFacts: FactFinder = async (host) => {
	const asked = await ask(host, FACTS_SCRIPT);
	if ("trouble" in asked) {
		return {
			hardware_uuid: undefined,
			is_unread: true,
			serial_number: undefined,
			os_version: "Windows",
		};
	}
	const { answer } = asked;
	const only = (name: string, field: string) => {
		const found = part(answer, name);
		return found.kind === "values" ? text(found.values[0]?.[field]) : undefined;
	};
	const product = part(answer, "product");
	const isUnread =
		product.kind === "values"
			? product.values.length === 0
			: product.kind !== "denied" || host.isPrivileged;
	return {
		...(isUnread
			? { hardware_uuid: undefined, is_unread: true }
			: {
					hardware_uuid:
						realUuid(only("product", "UUID")) ??
						realUuid(text(answer.machineGuid)),
				}),
		serial_number: realSerial(only("bios", "SerialNumber")),
		os_version: windowsVersion(answer),
	};
};

/**
 * Returns the version as text, such as "Windows 11 Pro 24H2 (26100.2605)" or "Windows Server 2022
 * Standard 21H2 (20348.2762)".
 */
export function windowsVersion(answer: Record<string, unknown>): string {
	const build = integer(answer.build);
	const revision = integer(answer.revision);
	const isClient = text(answer.installation) === "Client";
	const name = plain(text(answer.name)) ?? "Windows";
	const current =
		isClient && build !== undefined && build >= WINDOWS_11
			? name.replace(/^Windows 10\b/, "Windows 11")
			: name;
	const version =
		plain(text(answer.version)) ??
		(isClient ? CLIENT_RELEASES[build ?? 0]?.name : undefined) ??
		plain(text(answer.olderVersion));
	const number =
		build === undefined
			? undefined
			: `(${revision === undefined ? build : `${build}.${revision}`})`;
	return [current, version, number].filter(Boolean).join(" ");
}

const plain = (value: string | undefined) =>
	value !== undefined && /^[A-Za-z0-9][A-Za-z0-9 ().-]{0,79}$/.test(value)
		? value
		: undefined;
