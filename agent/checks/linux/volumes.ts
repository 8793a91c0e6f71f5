import type { BlockDevice } from "./block-devices.ts";
import type { Mount } from "./mounts.ts";

/** Top-level folders of the system. A volume there counts even if it is on a removable disk. */
const OF_SYSTEM = new Set(
	"home root var srv opt tmp data nix persist persistent sysroot".split(" "),
);

/** Folders of the boot loader, which has to be readable before anything is decrypted. */
const BOOT = /^\/(boot|efi)(\/|$)/;

/** Returns true for a file system on a disk that may hold data of people. */
export function isOnDisk({ source, target, type }: Mount): boolean {
	if (BOOT.test(target)) return false;
	// Pop!_OS mounts its installer there, from which people repair the system. Nothing is stored there.
	if (target === "/recovery" && type === "vfat") return false;
	const hasDevice = source.startsWith("/dev/") && !/^fuse\./.test(type);
	// Mounted images, such as snaps, and discs contain no data of people.
	return (
		(type === "zfs" || hasDevice) &&
		!/^(squashfs|iso9660|udf|erofs|overlay|devtmpfs)$/.test(type)
	);
}

export const isOfSystem = (mount: Mount): boolean =>
	systemNameOf(mount) !== undefined;

function systemNameOf({ target }: Mount): string | undefined {
	if (target === "/") return "root";
	const first = target.split("/")[1] ?? "";
	if (first === "root") return "root_home";
	return OF_SYSTEM.has(first) ? first : undefined;
}

/**
 * Gives each volume that counts our name for it: that of its folder, or `other_1` and so on. Leaves
 * out removable disks, and other mounts of a volume that has a name already.
 */
export function nameVolumes(
	mounts: readonly Mount[],
	devices: readonly BlockDevice[],
): [string, Mount][] {
	const named: [string, Mount][] = [];
	const seen = new Set<string>();
	for (const mount of mounts) {
		const name = systemNameOf(mount);
		if (name === undefined) continue;
		named.push([name, mount]);
		seen.add(mount.source);
	}
	for (const mount of mounts) {
		if (seen.has(mount.source) || isRemovable(mount, devices)) continue;
		seen.add(mount.source);
		named.push([`other_${named.length - countSystem(named) + 1}`, mount]);
	}
	return named;
}

const countSystem = (named: [string, Mount][]) =>
	named.filter(([, mount]) => isOfSystem(mount)).length;

function isRemovable(mount: Mount, devices: readonly BlockDevice[]): boolean {
	const pool = mount.source.split("/")[0];
	const at = devices.filter(
		(device) =>
			isAt(device, mount.source) ||
			(mount.type === "zfs" &&
				device.fileSystem === "zfs_member" &&
				device.label === pool),
	);
	return at.length > 0 && at.every((device) => device.isRemovable);
}

export const isAt = (device: BlockDevice, source: string): boolean =>
	source === `/dev/${device.kernelName}` ||
	source === `/dev/${device.name}` ||
	source === `/dev/mapper/${device.name}`;
