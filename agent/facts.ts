import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname, release, type } from "node:os";
import { join } from "node:path";
import type { Platform } from "../src/devices/terms.ts";
import type { HeartbeatRequest } from "../src/devices/wire.ts";
import { errorCode, parseObject, writeFileAtomically } from "./files.ts";
import type { Host } from "./host.ts";

/** The content of a heartbeat, except the agent's own version. */
export type Facts = Omit<HeartbeatRequest, "agent_version">;

/** The facts that each platform has to find in its own way. */
export interface PlatformFacts {
	/**
	 * An id that survives restarts and reinstallations. Undefined if the device has none to show.
	 */
	hardware_uuid: string | undefined;
	/**
	 * True if the device did not answer this time. `hardware_uuid` is then undefined, but the device
	 * may show an id the next time.
	 */
	is_unread?: boolean;
	serial_number: string | undefined;
	/** A name that does not change with the network. By default, the one that the kernel has now. */
	hostname?: string;
	/** A name for people, such as "Ubuntu 24.04.2 LTS" or "macOS 15.3 (24D60)". */
	os_version: string;
}

export type FactFinder = (host: Host) => Promise<PlatformFacts>;

const TIMEOUT_MS = 15_000;
const MAX_TEXT = 255;
const FILE = "hardware.json";

async function loadFinder(platform: Platform): Promise<FactFinder> {
	switch (platform) {
		case "DARWIN":
			return (await import("./facts/macos.ts")).findFacts;
		case "LINUX":
			return (await import("./facts/linux.ts")).findFacts;
		case "FREEBSD":
			return (await import("./facts/freebsd.ts")).findFacts;
		case "WINDOWS":
			return (await import("./facts/windows.ts")).findFacts;
	}
}

/**
 * Returns the facts for the next heartbeat. Returns undefined if the device does not say which
 * hardware it is, and never said so before. The returned promise does not reject if another fact
 * cannot be found. If the protocol requires that fact, the agent sends a value that is always known
 * instead.
 */
export async function collectFacts(
	host: Host,
	folder: string,
): Promise<Facts | undefined> {
	const found = await findInTime(host);
	const hardware = await keepHardware(folder, found);
	return hardware && { ...hardware, ...otherFacts(host, found) };
}

/**
 * The facts of a heartbeat as the user sees them. The hardware id is null if the agent would have
 * to generate one.
 */
export type ShownFacts = Omit<Facts, "hardware_uuid"> & {
	hardware_uuid: string | null;
};

/** What identifies the hardware, in a heartbeat and in the agent's folder. */
type Hardware = Pick<Facts, "hardware_uuid" | "serial_number">;

/** Returns the facts that a heartbeat would contain now, without writing anything to the disk. */
export async function showFacts(
	host: Host,
	folder: string,
): Promise<ShownFacts> {
	const found = await findInTime(host);
	const stored = await readHardware(folder).catch(() => undefined);
	const hardware = hardwareOf(found, stored) ?? { hardware_uuid: null };
	return { ...hardware, ...otherFacts(host, found) };
}

function otherFacts(
	host: Host,
	found: PlatformFacts,
): Omit<Facts, keyof Hardware> {
	return {
		hostname: clean(found.hostname) || clean(hostname()) || "unnamed",
		platform: host.platform,
		os_version: clean(found.os_version) || `${type()} ${release()}`,
	};
}

async function findInTime(host: Host): Promise<PlatformFacts> {
	const none = {
		hardware_uuid: undefined,
		is_unread: true,
		serial_number: undefined,
		os_version: "",
	};
	let timer: NodeJS.Timeout | undefined;
	const limit = new Promise<PlatformFacts>((resolve) => {
		timer = setTimeout(() => resolve(none), TIMEOUT_MS);
	});
	try {
		const find = await loadFinder(host.platform);
		return await Promise.race([find(host), limit]);
	} catch {
		return none;
	} finally {
		clearTimeout(timer);
	}
}

/**
 * Returns the hardware to report, and remembers it. If the device shows no id, the agent generates
 * one once. If the device did not answer, the agent reports the remembered hardware, because a
 * command may fail once. With another id the device would look like a different one, and the
 * service would suspect a copied key. If the agent remembers no hardware, this returns undefined.
 */
async function keepHardware(
	folder: string,
	found: PlatformFacts,
): Promise<Hardware | undefined> {
	const stored = await readHardware(folder);
	const hardware =
		hardwareOf(found, stored) ??
		(found.is_unread ? undefined : withSerial(randomUUID(), found));
	const isStored =
		hardware?.hardware_uuid === stored?.hardware_uuid &&
		hardware?.serial_number === stored?.serial_number;
	if (hardware && !isStored) {
		await writeFileAtomically(join(folder, FILE), JSON.stringify(hardware));
	}
	return hardware;
}

/** Returns the hardware as the device shows it now or showed it before, if it ever did. */
function hardwareOf(
	found: PlatformFacts,
	stored: Hardware | undefined,
): Hardware | undefined {
	const uuid = clean(found.hardware_uuid) || stored?.hardware_uuid;
	if (!uuid) return undefined;
	const hardware = withSerial(uuid, found);
	// The same hardware keeps its serial number, also if one of two queries failed.
	const isKnown = uuid === stored?.hardware_uuid;
	return isKnown ? { ...stored, ...hardware } : hardware;
}

function withSerial(uuid: string, found: PlatformFacts): Hardware {
	const serial = clean(found.serial_number);
	return { hardware_uuid: uuid, ...(serial && { serial_number: serial }) };
}

async function readHardware(folder: string): Promise<Hardware | undefined> {
	try {
		const stored = parseObject(await readFile(join(folder, FILE), "utf8"));
		const uuid = clean(stored?.hardware_uuid);
		const serial = clean(stored?.serial_number);
		if (!uuid) return undefined;
		return { hardware_uuid: uuid, ...(serial && { serial_number: serial }) };
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}

function clean(text: unknown): string {
	if (typeof text !== "string") return "";
	return text
		.toWellFormed()
		.replace(/\p{Cc}/gu, "")
		.trim()
		.slice(0, MAX_TEXT);
}
