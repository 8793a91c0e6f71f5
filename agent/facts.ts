import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname, release, type } from "node:os";
import { join } from "node:path";
import type { Platform } from "../src/devices/terms.ts";
import type { HeartbeatRequest } from "../src/devices/wire.ts";
import { errorCode, parseObject, writeFileAtomically } from "./files.ts";
import type { Host } from "./host.ts";

/** The content of a heartbeat without the agent's own version. */
export type Facts = Omit<HeartbeatRequest, "agent_version">;

/** The facts that each platform finds in its own way. */
export interface PlatformFacts {
	/** Stable across restarts and reinstallations. Undefined if the device shows none. */
	hardware_uuid: string | undefined;
	serial_number: string | undefined;
	/** Human-readable, such as "Ubuntu 24.04.2 LTS" or "macOS 15.3 (24D60)". */
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
 * Returns the facts for the next heartbeat. It does not reject for a fact that cannot be found: a
 * fact that the protocol requires is then replaced by one that is always known.
 */
export async function collectFacts(host: Host, folder: string): Promise<Facts> {
	const found = await findInTime(host);
	const uuid = await keepHardwareUuid(folder, clean(found.hardware_uuid));
	return { hardware_uuid: uuid, ...otherFacts(host, found) };
}

/** The facts of a heartbeat. The hardware's id is null if one would have to be generated first. */
export type ShownFacts = Omit<Facts, "hardware_uuid"> & {
	hardware_uuid: string | null;
};

/** Returns the facts that a heartbeat would have now. Writes nothing. */
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
 * Returns the hardware id to report: the device's, or the one it showed before, or one that is
 * generated once. Without this memory, a command that fails once would make the device look like
 * another one, and the service would suspect a cloned key.
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
