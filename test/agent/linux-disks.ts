import { checkDiskEncryption } from "../../agent/checks/linux/disk-encryption.ts";
import { recordedHost } from "./recorded-host.ts";
import { linux, MACHINE } from "./recordings/linux.ts";

/** A device in the output of lsblk. Fields that are left out have their usual values. */
export interface Device {
	name: string;
	kname?: string;
	type: string;
	fstype?: string;
	uuid?: string;
	label?: string;
	rm?: boolean | string;
	tran?: string;
	at?: (string | null)[];
	children?: Device[];
}

/**
 * The command that the check runs first. It runs another one if lsblk does not know the last
 * column.
 */
export const LSBLK =
	"lsblk --json --output NAME,KNAME,TYPE,FSTYPE,UUID,LABEL,RM,HOTPLUG,TRAN,MOUNTPOINTS";
export const OLD_LSBLK =
	"lsblk --json --output NAME,KNAME,TYPE,FSTYPE,UUID,LABEL,RM,HOTPLUG,TRAN,MOUNTPOINT";

export const lsblk = (...devices: Device[]) =>
	JSON.stringify({ blockdevices: devices.map((device) => shown(device)) });

function shown({ at, children, ...device }: Device): object {
	return {
		kname: device.name,
		fstype: null,
		uuid: null,
		label: null,
		...device,
		mountpoints: at ?? [null],
		...(children && { children: children.map((child) => shown(child)) }),
	};
}

const efi: Device = {
	name: "nvme0n1p1",
	type: "part",
	fstype: "vfat",
	at: ["/boot/efi"],
};
const boot: Device = {
	name: "nvme0n1p2",
	type: "part",
	fstype: "ext4",
	at: ["/boot"],
};
/** Returns a disk with the partitions that an installer puts before the others. */
export const disk = (...children: Device[]): Device => ({
	name: "nvme0n1",
	type: "disk",
	children: [efi, boot, ...children],
});
export const crypt = (
	name: string,
	kname: string,
	more: Partial<Device>,
): Device => ({
	name,
	kname,
	type: "crypt",
	...more,
});
export const luks = (name: string, ...children: Device[]): Device => ({
	name,
	type: "part",
	fstype: "crypto_LUKS",
	children,
});

const NO_SWAP = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
export const swapOn = (path: string, type = "partition") =>
	`${NO_SWAP}${path}                               ${type}\t8388604\t\t0\t\t-2\n`;
/** The id that the kernel gives a mapping which LUKS has opened. */
export const LUKS2 =
	"CRYPT-LUKS2-5f2b1c9e0d8a4f7c9b3e2d1a0c9b8a7f-luks-5f2b1c9e\n";

/** Checks a machine without swap that has these files and command outputs. */
export const checkDisks = (
	files: Record<string, string>,
	commands: Record<string, string | { exitCode: number; stderr?: string }> = {},
	privileged = true,
) =>
	checkDiskEncryption(
		recordedHost(
			linux({
				isPrivileged: privileged,
				commands,
				files: { ...MACHINE, "/proc/swaps": NO_SWAP, ...files },
			}),
		),
	);
