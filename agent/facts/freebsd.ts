import { readSysctl, runForText } from "../checks/freebsd/commands.ts";
import { parseVersion } from "../checks/freebsd/os-version.ts";
import type { FactFinder } from "../facts.ts";
import type { Host } from "../host.ts";

/**
 * The firmware's UUID as the loader found it; without a usable one, as on many boards for
 * hobbyists, `kern.hostuuid`, which FreeBSD then makes once and keeps in /etc/hostid.
 */
export const findFacts: FactFinder = async (host) => {
	const told = await runForText(host, "freebsd-version", ["-u"]);
	const version = parseVersion(told?.trim());
	const isJail = (await readSysctl(host, "security.jail.jailed")) === "1";
	return {
		hardware_uuid:
			(isJail
				? undefined
				: realUuid(await readFirmware(host, "smbios.system.uuid"))) ??
			realUuid(await readSysctl(host, "kern.hostuuid")) ??
			realUuid(await readHostId(host)),
		serial_number: isJail
			? undefined
			: realSerial(await readFirmware(host, "smbios.system.serial")),
		os_version: version === undefined ? "" : `FreeBSD ${version.name}`,
	};
};

const readFirmware = async (host: Host, name: string) =>
	(await runForText(host, "kenv", ["-q", name]))?.trim();

async function readHostId(host: Host): Promise<string | undefined> {
	const file = await host.readFile("/etc/hostid");
	return file.kind === "text" ? file.text.trim() : undefined;
}

/** Left in by makers of boards who never set their own; shared by thousands of machines. */
const SHARED_UUIDS = new Set([
	"03000200-0400-0500-0006-000700080009",
	"00020003-0004-0005-0006-000700080009",
	"12345678-1234-5678-90ab-cddeefaabbcc",
]);

function realUuid(text: string | undefined): string | undefined {
	const uuid = text?.toLowerCase() ?? "";
	if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid))
		return undefined;
	const isOneDigit = new Set(uuid.replaceAll("-", "")).size === 1;
	return isOneDigit || SHARED_UUIDS.has(uuid) ? undefined : uuid;
}

/** What makers write where they have no number. */
const NO_SERIAL =
	/^(to be filled by o\.?e\.?m\.?|default string|none|n\/?a|not (specified|available|applicable|provided)|unknown|invalid|system serial number|chassis serial number|oem|0?123456789|(.)\3*)$/i;

function realSerial(text: string | undefined): string | undefined {
	return text !== undefined &&
		/^[\x20-\x7e]{1,100}$/.test(text) &&
		!NO_SERIAL.test(text)
		? text
		: undefined;
}
