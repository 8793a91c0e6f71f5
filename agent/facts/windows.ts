import { ask, integer, part, text } from "../checks/windows/powershell.ts";
import { CLIENT_RELEASES } from "../checks/windows/releases.ts";
import type { FactFinder } from "../facts.ts";

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

/** The first build that is Windows 11; its registry goes on to say Windows 10. */
const WINDOWS_11 = 22_000;

/**
 * The hardware's UUID is the firmware's. Some boards ship one that stands for none; then the
 * installation's own, which lasts until Windows is installed anew.
 */
export const findFacts: FactFinder = async (host) => {
	const asked = await ask(host, FACTS_SCRIPT);
	if ("trouble" in asked) {
		return {
			hardware_uuid: undefined,
			serial_number: undefined,
			os_version: "Windows",
		};
	}
	const { answer } = asked;
	const only = (name: string, field: string) => {
		const found = part(answer, name);
		return found.kind === "values" ? text(found.values[0]?.[field]) : undefined;
	};
	return {
		hardware_uuid:
			realUuid(only("product", "UUID")) ?? realUuid(text(answer.machineGuid)),
		serial_number: realSerial(only("bios", "SerialNumber")),
		os_version: windowsVersion(answer),
	};
};

/** Such as "Windows 11 Pro 24H2 (26100.2605)" or "Windows Server 2022 Standard 21H2 (20348.2762)". */
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

/** Those that boards are sold with instead of one of their own. */
const JUNK_UUIDS = new Set([
	"03000200-0400-0500-0006-000700080009",
	"12345678-1234-5678-90ab-cddeefaabbcc",
	"12345678-1234-1234-1234-123456789abc",
	"00020003-0004-0005-0006-000700080009",
	"fefefefe-fefe-fefe-fefe-fefefefefefe",
]);

function realUuid(value: string | undefined): string | undefined {
	const uuid = value?.trim().toLowerCase();
	if (
		uuid === undefined ||
		!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) ||
		/^(0|f)\1*$/.test(uuid.replaceAll("-", ""))
	) {
		return undefined;
	}
	return JUNK_UUIDS.has(uuid) ? undefined : uuid;
}

const JUNK_SERIALS =
	/^(to be filled|default string|system serial|chassis serial|base board|not (specified|available|applicable)|n\/?a\b|none|null|invalid|unknown|oem|o\.e\.m|empty|0123456789|123456789|1234567890|[0x. -]+$)/i;

function realSerial(value: string | undefined): string | undefined {
	const serial = value?.trim();
	return serial !== undefined &&
		/^[A-Za-z0-9][A-Za-z0-9 ./_-]{1,79}$/.test(serial) &&
		!JUNK_SERIALS.test(serial)
		? serial
		: undefined;
}
