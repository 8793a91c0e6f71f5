import type { Host } from "../../host.ts";
import { runForText } from "../run-for-text.ts";
import type { BlockDevice, Encrypted } from "./block-devices.ts";
import type { Mount } from "./mounts.ts";
import { readText } from "./read-text.ts";
import { isAt } from "./volumes.ts";

/** The storage of the device. */
export interface Storage {
	host: Host;
	mounts: readonly Mount[];
	devices: readonly BlockDevice[];
	/** ZFS's property `encryption` by the name of the dataset. */
	datasets: ReadonlyMap<string, string>;
}

export interface Judged {
	encrypted: Encrypted;
	method?: string | undefined;
}

/** Loop devices may lie in file systems that are on loop devices. */
const MAX_DEPTH = 8;

export async function judgeMount(
	storage: Storage,
	mount: Mount,
	depth = 0,
): Promise<Judged> {
	if (mount.type === "zfs") return judgeDataset(storage, mount.source);
	if (mount.type === "bcachefs") return { encrypted: undefined };
	const { devices } = storage;
	const at = devices.filter(
		(device) =>
			device.mountpoints.includes(mount.target) || isAt(device, mount.source),
	);
	// A btrfs file system of several devices is mounted from one of them, and all of them have its
	// UUID.
	const uuids = new Set(at.map((device) => device.uuid).filter(Boolean));
	const all = devices.filter(
		(device) =>
			at.includes(device) ||
			(mount.type === "btrfs" &&
				device.fileSystem === "btrfs" &&
				uuids.has(device.uuid)),
	);
	return judgeDevices(storage, all, depth);
}

async function judgeDevices(
	storage: Storage,
	devices: readonly BlockDevice[],
	depth: number,
): Promise<Judged> {
	if (devices.length === 0) return { encrypted: undefined };
	let encrypted: Encrypted = true;
	let method: string | undefined;
	for (const device of devices) {
		const file =
			device.encrypted === undefined ? device.backingFile : undefined;
		const judged: Judged = file
			? await judgeFile(storage, file, depth + 1)
			: device;
		encrypted = worse(encrypted, judged.encrypted);
		method ??= judged.method;
	}
	return { encrypted, method };
}

/** Asks ZFS once for all its datasets, if one is mounted or is swap space. */
export async function readDatasets(
	host: Host,
	mounts: readonly Mount[],
): Promise<Map<string, string>> {
	const swaps = await readText(host, "/proc/swaps");
	const isUsed =
		mounts.some(({ type }) => type === "zfs") ||
		/^\/dev\/zd/m.test(swaps ?? "");
	const printed = isUsed
		? await runForText(host, "zfs", [
				"get",
				"-H",
				"-t",
				"filesystem,volume",
				"-o",
				"name,value",
				"encryption",
			])
		: undefined;
	return new Map(
		(printed ?? "")
			.split("\n")
			.map((line) => line.split("\t"))
			.filter((pair): pair is [string, string] => pair.length === 2),
	);
}

/**
 * Judges a ZFS dataset, which is encrypted if ZFS encrypts it or if its pool is on encrypted
 * devices.
 */
async function judgeDataset(
	storage: Storage,
	dataset: string,
): Promise<Judged> {
	const value = storage.datasets.get(dataset)?.trim();
	if (value !== undefined && /^(on|aes-\d{3}-[cg]cm)$/.test(value)) {
		return { encrypted: true, method: "zfs" };
	}
	const pool = dataset.split("/")[0] ?? "";
	const members = storage.devices.filter(
		(device) => device.fileSystem === "zfs_member" && device.label === pool,
	);
	const judged = await judgeDevices(storage, members, 0);
	// Unencrypted devices prove nothing unless ZFS says that it does not encrypt the dataset.
	return judged.encrypted || value === "off" || value === "-"
		? judged
		: { encrypted: undefined };
}

export async function judgeSwap(storage: Storage): Promise<Encrypted | "none"> {
	const text = await readText(storage.host, "/proc/swaps");
	if (text === undefined) return "none";
	let found: Encrypted | "none" = "none";
	for (const line of text.split("\n").slice(1)) {
		const [path, type] = line.trim().split(/\s+/);
		if (!path || /^\/dev\/zram\d+$/.test(path)) continue;
		const { encrypted } =
			type === "partition"
				? await judgePartition(storage, path)
				: type === "file"
					? await judgeFile(storage, path, 0)
					: { encrypted: undefined };
		found = found === "none" ? encrypted : worse(found, encrypted);
	}
	return found;
}

async function judgePartition(storage: Storage, path: string): Promise<Judged> {
	if (!/^\/dev\/zd\d{1,6}$/.test(path)) {
		const at = storage.devices.filter((device) => isAt(device, path));
		return judgeDevices(storage, at, 0);
	}
	// udev names the dataset of a ZFS volume in a link such as /dev/zvol/rpool/swap.
	const links = await runForText(storage.host, "udevadm", [
		"info",
		"--query=symlink",
		`--name=${path}`,
	]);
	const dataset = /(?:^|\s)zvol\/(\S+)/.exec(links ?? "")?.[1];
	return dataset === undefined
		? { encrypted: undefined }
		: judgeDataset(storage, dataset);
}

async function judgeFile(
	storage: Storage,
	path: string,
	depth: number,
): Promise<Judged> {
	const holds = storage.mounts
		.filter(({ target }) => target === "/" || path.startsWith(`${target}/`))
		.sort((a, b) => b.target.length - a.target.length)[0];
	return holds && depth <= MAX_DEPTH
		? judgeMount(storage, holds, depth)
		: { encrypted: undefined };
}

/**
 * Returns the worse of two answers. One unencrypted part makes the whole unencrypted, even if other
 * parts are unknown.
 */
export function worse(a: Encrypted, b: Encrypted): Encrypted {
	if (a === false || b === false) return false;
	return a === undefined || b === undefined ? undefined : true;
}
