import { expect, test } from "vitest";
import {
	checkDisks,
	crypt,
	type Device,
	disk,
	LSBLK,
	LUKS2,
	lsblk,
	luks,
	swapOn,
} from "./linux-disks.ts";
import { mounts } from "./recordings/linux.ts";

const ROOT = "/dev/mapper/root / ext4";
const DM = { "/sys/block/dm-0/dm/uuid": LUKS2 };
const root = luks(
	"nvme0n1p3",
	crypt("root", "dm-0", { fstype: "ext4", at: ["/"] }),
);

/** Checks a laptop with an encrypted root and another disk, which is mounted there. */
const checkDiskAt = (
	target: string,
	more: Partial<Device> = {},
	type = "ext4",
) =>
	checkDisks(
		{ ...DM, "/proc/self/mounts": mounts(ROOT, `/dev/sdb1 ${target} ${type}`) },
		{
			[LSBLK]: lsblk(disk(root), {
				name: "sdb",
				type: "disk",
				...more,
				children: [{ name: "sdb1", type: "part", fstype: type, at: [target] }],
			}),
		},
	);

test.each([
	"/mnt/data",
	"/data1",
	"/media/ada/Work",
	"/export",
	"/backup",
	"/vault",
])("an internal disk without encryption fails, mounted at %s", async (at) => {
	expect(await checkDiskAt(at)).toEqual({
		status: "FAIL",
		evidence: {
			root_encrypted: true,
			other_1_encrypted: false,
			methods: ["luks2"],
			unencrypted: ["other_1"],
			other_1_type: "ext4",
		},
	});
});

test.each([
	["that lsblk calls removable", { rm: true }],
	["that an older lsblk calls removable", { rm: "1" }],
	["on USB", { tran: "usb" }],
] as const)("a disk %s does not count", async (_, more) => {
	expect(await checkDiskAt("/media/ada/Stick", more)).toMatchObject({
		status: "PASS",
		evidence: { root_encrypted: true },
	});
});

test("the folder with people's homes counts even on a removable disk", async () => {
	expect(await checkDiskAt("/home", { tran: "usb" })).toMatchObject({
		status: "FAIL",
		evidence: { home_encrypted: false },
	});
});

test("the boot loader's partitions and discs do not count", async () => {
	expect((await checkDiskAt("/boot/firmware", {}, "vfat")).status).toBe("PASS");
	expect((await checkDiskAt("/mnt/dvd", {}, "udf")).status).toBe("PASS");
});

test("the recovery system of Pop!_OS does not count, but a file system of another kind there does", async () => {
	expect((await checkDiskAt("/recovery", {}, "vfat")).status).toBe("PASS");
	expect(await checkDiskAt("/recovery", {}, "ext4")).toMatchObject({
		status: "FAIL",
		evidence: { unencrypted: ["other_1"] },
	});
	expect(await checkDiskAt("/recovery/data", {}, "vfat")).toMatchObject({
		status: "FAIL",
		evidence: { other_1_type: "vfat" },
	});
});

test("a second mount of an encrypted volume does not count as another volume", async () => {
	const outcome = await checkDisks(
		{
			...DM,
			"/proc/self/mounts": mounts(ROOT, "/dev/mapper/root /mnt/bind ext4"),
		},
		{ [LSBLK]: lsblk(disk(root)) },
	);
	expect(outcome.evidence).toEqual({
		root_encrypted: true,
		methods: ["luks2"],
	});
});

test.each([
	["inside the encrypted root", "/home/ada/box.img", "PASS", true],
	["on a disk without encryption", "/mnt/plain/box.img", "FAIL", false],
])("an image file %s is as encrypted as its file system", async (_, file, status, encrypted) => {
	const outcome = await checkDisks(
		{
			...DM,
			"/sys/block/loop0/loop/backing_file": `${file}\n`,
			"/proc/self/mounts": mounts(
				ROOT,
				"/dev/sdb1 /mnt/plain ext4",
				"/dev/loop0 /home/ada/box ext4",
			),
		},
		{
			[LSBLK]: lsblk(
				disk(root),
				{
					name: "loop0",
					type: "loop",
					fstype: "ext4",
					at: ["/home/ada/box"],
				},
				{
					name: "sdb",
					type: "disk",
					tran: "usb",
					children: [
						{ name: "sdb1", type: "part", fstype: "ext4", at: ["/mnt/plain"] },
					],
				},
			),
		},
	);
	expect(outcome).toMatchObject({
		status,
		evidence: { home_encrypted: encrypted },
	});
});

const DATASETS = "zfs get -H -t filesystem,volume -o name,value encryption";
const LINKS = "udevadm info --query=symlink --name=/dev/zd0";

test.each([
	["aes-256-gcm", "PASS", true],
	["off", "FAIL", false],
])("swap on a volume of ZFS with encryption %s", async (value, status, encrypted) => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts("rpool/ROOT / zfs"),
			"/proc/swaps": swapOn("/dev/zd0"),
		},
		{
			[LSBLK]: lsblk({
				name: "sda",
				type: "disk",
				fstype: "zfs_member",
				label: "rpool",
			}),
			[DATASETS]: `rpool\taes-256-gcm\nrpool/ROOT\taes-256-gcm\nrpool/swap\t${value}\n`,
			[LINKS]: "zvol/rpool/swap disk/by-id/zd0\n",
		},
	);
	expect(outcome).toMatchObject({
		status,
		evidence: { root_encrypted: true, swap_encrypted: encrypted },
	});
});
