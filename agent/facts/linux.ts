import { createHmac } from "node:crypto";
import { findEnclosure } from "../checks/linux/enclosure.ts";
import { readOsRelease } from "../checks/linux/os-release.ts";
import { readLine } from "../checks/linux/read-text.ts";
import type { FactFinder, PlatformFacts } from "../facts.ts";
import type { Host } from "../host.ts";
import { realSerial, realUuid } from "./firmware.ts";

/**
 * Returns the facts about a Linux machine from its firmware. Only root may read the firmware's
 * UUID, and a container would see the UUID of its host. In both cases the agent derives a UUID from
 * the machine id, because machine-id(5) asks programs not to reveal the machine id itself. An error
 * while reading the firmware's UUID says nothing about the device, so no other id replaces it.
 */
export const findFacts: FactFinder = async (
	host: Host,
): Promise<PlatformFacts> => {
	const isEnclosed = (await findEnclosure(host)) !== undefined;
	const release = await readOsRelease(host);
	const isUnread =
		!isEnclosed && (await host.readFile(FIRMWARE_UUID)).kind === "unreadable";
	return {
		...(isUnread
			? { hardware_uuid: undefined, is_unread: true }
			: {
					hardware_uuid:
						(isEnclosed
							? undefined
							: realUuid(await readLine(host, FIRMWARE_UUID))) ??
						(await makeSystemUuid(host)),
				}),
		serial_number: isEnclosed ? undefined : await readSerial(host),
		os_version:
			shown(release?.get("PRETTY_NAME")) ??
			shown(release?.get("NAME")) ??
			"Linux",
	};
};

const FIRMWARE_UUID = "/sys/class/dmi/id/product_uuid";

/**
 * The key from which this agent derives its ids. No other program uses it, so none derives the same
 * id from a machine.
 */
const APPLICATION_ID = Buffer.from("7d1f9a2c5be84f0b9c33a1e2d46078fb", "hex");

/**
 * Derives an id with the same method as systemd's `sd_id128_get_machine_app_specific`:
 * HMAC-SHA-256, marked as a random UUID.
 */
async function makeSystemUuid(host: Host): Promise<string | undefined> {
	const id = await readLine(host, "/etc/machine-id");
	if (!id || !/^[0-9a-f]{32}$/.test(id) || new Set(id).size === 1) {
		return undefined;
	}
	const bytes = createHmac("sha256", Buffer.from(id, "hex"))
		.update(APPLICATION_ID)
		.digest()
		.subarray(0, 16);
	bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
	bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
	return bytes
		.toString("hex")
		.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const readSerial = async (host: Host) =>
	realSerial(
		(await readLine(host, "/sys/class/dmi/id/product_serial")) ??
			(await readLine(host, "/proc/device-tree/serial-number")),
	);

/** Cleans a name for display: removes control characters and cuts it off after 200 characters. */
function shown(name: string | undefined): string | undefined {
	const text = name
		?.replace(/\p{Cc}+/gu, " ")
		.trim()
		.slice(0, 200);
	return text || undefined;
}
