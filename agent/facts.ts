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
	 * An id that survives restarts and reinstallations. Undefined if the device does not show one.
	 */
	hardware_uuid: string | undefined;
	serial_number: string | undefined;
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
 * Returns the facts for the next heartbeat. The returned promise does not reject if a fact cannot
 * be found. If the protocol requires that fact, the agent sends a value that is always known
 * instead.
 */
export async function collectFacts(host: Host, folder: string): Promise<Facts> {
	const found = await findInTime(host);
	const uuid = await keepHardwareUuid(folder, clean(found.hardware_uuid));
	return { hardware_uuid: uuid, ...otherFacts(host, found) };
}

/**
 * The facts of a heartbeat as the user sees them. The hardware id is null if the agent would have
 * to generate one.
 */
export type ShownFacts = Omit<Facts, "hardware_uuid"> & {
	hardware_uuid: string | null;
};

/** Returns the facts that a heartbeat would contain now, without writing anything to the disk. */
export async function showFacts(
	host: Host,
	folder: string,
): Promise<ShownFacts> {
	const found = await findInTime(host);
	const uuid =
		clean(found.hardware_uuid) ||
		(await readHardwareUuid(folder).catch(() => ""));
	return { hardware_uuid: uuid || null, ...otherFacts(host, found) };
}

function otherFacts(
	host: Host,
	found: PlatformFacts,
): Omit<Facts, "hardware_uuid"> {
	const serial = clean(found.serial_number);
	return {
		...(serial ? { serial_number: serial } : {}),
		hostname: clean(hostname()) || "unnamed",
		platform: host.platform,
		os_version: clean(found.os_version) || `${type()} ${release()}`,
	};
}

async function findInTime(host: Host): Promise<PlatformFacts> {
	const none = {
		hardware_uuid: undefined,
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
 * Returns the hardware id to report: the one that the device shows now, the one that it showed
 * before, or one that is generated once. The agent remembers it because a command may fail once.
 * The device would then look like a different one, and the service would suspect a cloned key.
 */
async function keepHardwareUuid(
	folder: string,
	found: string,
): Promise<string> {
	const stored = await readHardwareUuid(folder);
	const uuid = found || stored || randomUUID();
	if (uuid !== stored) {
		const text = JSON.stringify({ hardware_uuid: uuid });
		await writeFileAtomically(join(folder, FILE), text);
	}
	return uuid;
}

async function readHardwareUuid(folder: string): Promise<string> {
	try {
		const text = await readFile(join(folder, FILE), "utf8");
		return clean(parseObject(text)?.hardware_uuid);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return "";
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
