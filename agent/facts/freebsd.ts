import { parseVersion } from "../checks/freebsd/os-version.ts";
import { readSysctl } from "../checks/freebsd/read-sysctl.ts";
import { runForText } from "../checks/run-for-text.ts";
import type { FactFinder } from "../facts.ts";
import type { Host } from "../host.ts";
import { realSerial, realUuid } from "./firmware.ts";

/**
 * Returns the facts, with the firmware's UUID as the boot loader found it. Many boards for
 * hobbyists have no usable UUID. On these, the agent uses `kern.hostuuid`, which FreeBSD generates
 * once and stores in /etc/hostid. No other id replaces the UUID if the command for it did not end.
 */
export const findFacts: FactFinder = async (host) => {
	const told = await runForText(host, "freebsd-version", ["-u"]);
	const version = parseVersion(told?.trim());
	const isJail = (await readSysctl(host, "security.jail.jailed")) === "1";
	const firmware = isJail
		? undefined
		: await host.run("kenv", ["-q", "smbios.system.uuid"]);
	const isUnread = firmware?.ended === "timed_out";
	return {
		...(isUnread
			? { hardware_uuid: undefined, is_unread: true }
			: {
					hardware_uuid:
						realUuid(firmware?.stdout) ??
						realUuid(await readSysctl(host, "kern.hostuuid")) ??
						realUuid(await readHostId(host)),
				}),
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
