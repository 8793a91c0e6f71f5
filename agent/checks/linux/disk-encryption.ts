import type { Host } from "../../host.ts";
import {
	type CheckOutcome,
	fail,
	notApplicable,
	pass,
	unknown,
} from "../check.ts";
import {
	type BlockDevice,
	type Encrypted,
	findBlockDevices,
} from "./block-devices.ts";
import { findEnclosure } from "./enclosure.ts";
import { type Mount, readMounts } from "./mounts.ts";
import { readText, runForText } from "./read-text.ts";

/**
 * Returns PASS if the root file system, all other file systems with data of people, and the swap
 * space are encrypted. They may be encrypted by dm-crypt (for example LUKS under or over LVM or
 * RAID) or by ZFS itself. /boot does not count. Encrypted home folders on an unencrypted root fail,
 * because swap, logs and temporary files hold the same data (NIST SP 800-111, full-disk
 * encryption). Unencrypted swap beside an encrypted root fails too, but swap in memory (zram) is
 * not on a disk. The check cannot see encryption by the host of a virtual machine or by the drive
 * itself, so these do not count.
 */
export async function checkDiskEncryption(host: Host): Promise<CheckOutcome> {
	const enclosure = await findEnclosure(host);
	if (enclosure) return notApplicable(enclosure);
	const mounts = await readMounts(host);
	const root = mounts?.find((mount) => mount.target === "/");
	if (!mounts || !root) return unknown("unrecognized_output");
	if (/^(nfs4?|cifs|9p|virtiofs|ceph)$/.test(root.type)) {
		return notApplicable("network_root");
	}
	const volumes = mounts.filter((mount) => volumeOf(mount) !== undefined);
	const isInMemory = /^(tmpfs|ramfs|rootfs|overlay)$/.test(root.type);
	if (volumes.length === 0 && isInMemory) return notApplicable("no_disk");
	if (!isInMemory && !volumes.includes(root)) {
		return unknown("root_device_not_recognized");
	}
	const devices = await findBlockDevices(host);
	if (typeof devices === "string") return unknown(devices);

	const found = new Map<string, Encrypted>();
	const methods = new Set<string>();
	for (const mount of volumes) {
		const { encrypted, method } = await judgeMount(host, mount, devices);
		if (method) methods.add(method);
		const name = volumeOf(mount) ?? "";
		const others = found.has(name) ? found.get(name) : true;
		found.set(name, worse(others, encrypted));
	}
	const swap = await judgeSwap(host, mounts, devices);
	if (swap !== "none") found.set("swap", swap);

	const evidence = {
		...Object.fromEntries(
			[...found]
				.filter(([name]) => ["root", "home", "swap"].includes(name))
				.map(([name, encrypted]) => [
					`${name}_encrypted`,
					encrypted ?? "unknown",
				]),
		),
		...(methods.size > 0 && { methods: [...methods].sort() }),
	};
	const plain = [...found].filter(([, encrypted]) => encrypted === false);
	if (plain.length > 0) {
		const folders = mounts.some((mount) => mount.type === "ecryptfs");
		return fail({
			...evidence,
			unencrypted: plain.map(([name]) => name).sort(),
			...(folders && { encrypted_folders: true }),
		});
	}
	return [...found.values()].includes(undefined)
		? unknown("device_not_recognized", evidence)
		: pass(evidence);
}

/** Top-level folders that contain data of people and services. */
const DATA = new Set(
	"home root var srv opt tmp data nix persist persistent sysroot".split(" "),
);

/**
 * Returns our name for the volume. Returns undefined if the volume is not on a disk or holds no
 * data of people.
 */
function volumeOf({ source, target, type }: Mount): string | undefined {
	const isOnDisk =
		type === "zfs" || (source.startsWith("/dev/") && !/^fuse\./.test(type));
	// Mounted images, such as snaps, contain only programs.
	if (!isOnDisk || /^(squashfs|iso9660|erofs|overlay)$/.test(type)) {
		return undefined;
	}
	if (target === "/") return "root";
	const first = target.split("/")[1] ?? "";
	if (first === "root") return "root_home";
	return DATA.has(first) ? first : undefined;
}

interface Judged {
	encrypted: Encrypted;
	method?: string | undefined;
}

async function judgeMount(
	host: Host,
	mount: Mount,
	devices: BlockDevice[],
): Promise<Judged> {
	if (mount.type === "zfs") return judgeDataset(host, mount.source, devices);
	if (mount.type === "bcachefs") return { encrypted: undefined };
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
	return judgeDevices(all);
}

const isAt = (device: BlockDevice, source: string) =>
	source === `/dev/${device.kernelName}` ||
	source === `/dev/${device.name}` ||
	source === `/dev/mapper/${device.name}`;

function judgeDevices(devices: BlockDevice[]): Judged {
	if (devices.length === 0) return { encrypted: undefined };
	let encrypted: Encrypted = true;
	for (const device of devices) {
		encrypted = worse(encrypted, device.encrypted);
	}
	return {
		encrypted,
		method: devices.find((device) => device.method)?.method,
	};
}

/**
 * Judges a ZFS dataset, which is encrypted if ZFS encrypts it or if its pool is on encrypted
 * devices.
 */
async function judgeDataset(
	host: Host,
	dataset: string,
	devices: BlockDevice[],
): Promise<Judged> {
	if (!/^[A-Za-z0-9][A-Za-z0-9_.:/ -]*$/.test(dataset)) {
		return { encrypted: undefined };
	}
	const printed = await runForText(host, "zfs", [
		"get",
		"-H",
		"-o",
		"value",
		"encryption",
		dataset,
	]);
	const value = printed?.trim();
	if (value !== undefined && /^(on|aes-\d{3}-[cg]cm)$/.test(value)) {
		return { encrypted: true, method: "zfs" };
	}
	const pool = dataset.split("/")[0] ?? "";
	const members = devices.filter(
		(device) => device.fileSystem === "zfs_member" && device.label === pool,
	);
	const judged = judgeDevices(members);
	// Unencrypted devices prove nothing unless ZFS says that it does not encrypt the dataset.
	return judged.encrypted || value === "off" || value === "-"
		? judged
		: { encrypted: undefined };
}

async function judgeSwap(
	host: Host,
	mounts: Mount[],
	devices: BlockDevice[],
): Promise<Encrypted | "none"> {
	const text = await readText(host, "/proc/swaps");
	if (text === undefined) return "none";
	let found: Encrypted | "none" = "none";
	for (const line of text.split("\n").slice(1)) {
		const [path, type] = line.trim().split(/\s+/);
		if (!path || /^\/dev\/zram\d+$/.test(path)) continue;
		const { encrypted } =
			type === "partition"
				? judgeDevices(devices.filter((device) => isAt(device, path)))
				: type === "file"
					? await judgeFile(host, path, mounts, devices)
					: { encrypted: undefined };
		found = found === "none" ? encrypted : worse(found, encrypted);
	}
	return found;
}

async function judgeFile(
	host: Host,
	path: string,
	mounts: Mount[],
	devices: BlockDevice[],
): Promise<Judged> {
	const holds = mounts
		.filter(({ target }) => target === "/" || path.startsWith(`${target}/`))
		.sort((a, b) => b.target.length - a.target.length)[0];
	return holds ? judgeMount(host, holds, devices) : { encrypted: undefined };
}

/**
 * Returns the worse of two answers. One unencrypted part makes the whole unencrypted, even if other
 * parts are unknown.
 */
function worse(a: Encrypted, b: Encrypted): Encrypted {
	if (a === false || b === false) return false;
	return a === undefined || b === undefined ? undefined : true;
}
