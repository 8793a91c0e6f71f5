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
	OLD_LSBLK,
	swapOn,
} from "./linux-disks.ts";
import { mounts } from "./recordings/linux.ts";

test("LVM on LUKS is encrypted, including the swap in it", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts(
				"/dev/mapper/vgubuntu-root / ext4",
				"/dev/nvme0n1p2 /boot ext4",
				"/dev/loop3 /snap/core22/1722 squashfs",
			),
			"/proc/swaps": swapOn("/dev/dm-2"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[LSBLK]: lsblk(
				{
					name: "loop3",
					type: "loop",
					fstype: "squashfs",
					at: ["/snap/core22/1722"],
				},
				disk(
					luks(
						"nvme0n1p3",
						crypt("nvme0n1p3_crypt", "dm-0", {
							fstype: "LVM2_member",
							children: [
								{
									name: "vgubuntu-root",
									kname: "dm-1",
									type: "lvm",
									fstype: "ext4",
									at: ["/"],
								},
								{
									name: "vgubuntu-swap_1",
									kname: "dm-2",
									type: "lvm",
									fstype: "swap",
									at: ["[SWAP]"],
								},
							],
						}),
					),
				),
			),
		},
	);
	expect(outcome).toEqual({
		status: "PASS",
		evidence: {
			root_encrypted: true,
			swap_encrypted: true,
			methods: ["luks2"],
		},
	});
});

test("LUKS on LVM is encrypted", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts("/dev/mapper/cryptroot / xfs"),
			"/sys/block/dm-3/dm/uuid":
				"CRYPT-LUKS1-0d8a4f7c9b3e2d1a0c9b8a7f5f2b1c9e-cryptroot\n",
		},
		{
			[LSBLK]: lsblk(
				disk({
					name: "nvme0n1p3",
					type: "part",
					fstype: "LVM2_member",
					children: [
						{
							name: "vg-root",
							kname: "dm-0",
							type: "lvm",
							fstype: "crypto_LUKS",
							children: [
								crypt("cryptroot", "dm-3", { fstype: "xfs", at: ["/"] }),
							],
						},
					],
				}),
			),
		},
	);
	expect(outcome).toMatchObject({
		status: "PASS",
		evidence: { methods: ["luks1"] },
	});
});

test("subvolumes of btrfs on LUKS are encrypted, and swap in memory does not count", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts(
				"/dev/mapper/luks-1 / btrfs",
				"/dev/mapper/luks-1 /home btrfs",
			),
			"/proc/swaps": swapOn("/dev/zram0"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[LSBLK]: lsblk(
				{ name: "zram0", type: "disk", at: ["[SWAP]"] },
				disk(
					luks(
						"nvme0n1p3",
						crypt("luks-1", "dm-0", {
							fstype: "btrfs",
							uuid: "u1",
							at: ["/home", "/"],
						}),
					),
				),
			),
		},
	);
	expect(outcome).toEqual({
		status: "PASS",
		evidence: {
			root_encrypted: true,
			home_encrypted: true,
			methods: ["luks2"],
		},
	});
});

test("the output of an lsblk that prints only one mountpoint is understood", async () => {
	const old = {
		blockdevices: [
			{
				name: "sda",
				kname: "sda",
				type: "disk",
				fstype: null,
				uuid: null,
				label: null,
				mountpoint: null,
				children: [
					{
						name: "sda3",
						kname: "sda3",
						type: "part",
						fstype: "crypto_LUKS",
						mountpoint: null,
						children: [
							{
								name: "luks-1",
								kname: "dm-0",
								type: "crypt",
								fstype: "btrfs",
								uuid: "u1",
								mountpoint: "/home",
							},
						],
					},
				],
			},
		],
	};
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts(
				"/dev/mapper/luks-1 / btrfs",
				"/dev/mapper/luks-1 /home btrfs",
			),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[LSBLK]: { exitCode: 1, stderr: "lsblk: unknown column: MOUNTPOINTS\n" },
			[OLD_LSBLK]: JSON.stringify(old),
		},
	);
	expect(outcome.status).toBe("PASS");
});

test("a btrfs fails if its second disk is not encrypted", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts("/dev/mapper/luks-1 / btrfs"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[LSBLK]: lsblk(
				disk(
					luks(
						"nvme0n1p3",
						crypt("luks-1", "dm-0", { fstype: "btrfs", uuid: "u1", at: ["/"] }),
					),
				),
				{ name: "sdb", type: "disk", fstype: "btrfs", uuid: "u1" },
			),
		},
	);
	expect(outcome).toMatchObject({
		status: "FAIL",
		evidence: { unencrypted: ["root"] },
	});
});

test("a RAID is encrypted only if all of its disks are", async () => {
	const raid: Device = {
		name: "md0",
		type: "raid1",
		fstype: "ext4",
		at: ["/"],
	};
	const files = {
		"/proc/self/mounts": mounts("/dev/md0 / ext4"),
		"/sys/block/dm-0/dm/uuid": LUKS2,
		"/sys/block/dm-1/dm/uuid": LUKS2,
	};
	const first = luks(
		"sda1",
		crypt("c1", "dm-0", { fstype: "linux_raid_member", children: [raid] }),
	);
	const second = luks(
		"sdb1",
		crypt("c2", "dm-1", { fstype: "linux_raid_member", children: [raid] }),
	);
	const plain: Device = {
		name: "sdb1",
		type: "part",
		fstype: "linux_raid_member",
		children: [raid],
	};
	expect(
		(await checkDisks(files, { [LSBLK]: lsblk(first, second) })).status,
	).toBe("PASS");
	expect(
		(await checkDisks(files, { [LSBLK]: lsblk(first, plain) })).status,
	).toBe("FAIL");
});

const ZFS = "zfs get -H -t filesystem,volume -o name,value encryption";
const zfsRoot = {
	"/proc/self/mounts": mounts("rpool/ROOT/ubuntu_1x2y3z / zfs"),
};
const pool: Device = {
	name: "nvme0n1p4",
	type: "part",
	fstype: "zfs_member",
	label: "rpool",
};

test.each([
	["its own encryption", "aes-256-gcm\n", pool, "PASS"],
	["none on plain disks", "off\n", pool, "FAIL"],
	[
		"none on LUKS",
		"off\n",
		luks(
			"nvme0n1p4",
			crypt("z", "dm-0", { fstype: "zfs_member", label: "rpool" }),
		),
		"PASS",
	],
	["an answer that is not understood", "??\n", pool, "UNKNOWN"],
] as const)("ZFS with %s", async (_, said, member, status) => {
	const outcome = await checkDisks(
		{ ...zfsRoot, "/sys/block/dm-0/dm/uuid": LUKS2 },
		{
			[ZFS]: `rpool/ROOT/ubuntu_1x2y3z\t${said}`,
			[LSBLK]: lsblk(disk(member)),
		},
	);
	expect(outcome.status).toBe(status);
});

test("an image-based system is judged by the file system below its overlay", async () => {
	const files = {
		"/proc/self/mounts": mounts(
			"composefs / overlay",
			"/dev/mapper/luks-1 /sysroot btrfs",
			"/dev/mapper/luks-1 /var btrfs",
		),
		"/sys/block/dm-0/dm/uuid": LUKS2,
	};
	const outcome = await checkDisks(files, {
		[LSBLK]: lsblk(
			disk(
				luks(
					"nvme0n1p3",
					crypt("luks-1", "dm-0", {
						fstype: "btrfs",
						uuid: "u1",
						at: ["/sysroot", "/var"],
					}),
				),
			),
		),
	});
	expect(outcome).toMatchObject({
		status: "PASS",
		evidence: { methods: ["luks2"] },
	});
});
