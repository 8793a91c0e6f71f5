import { expect, test } from "vitest";
import { checkDiskEncryption } from "../../agent/checks/linux/disk-encryption.ts";
import { recordedHost } from "./recorded-host.ts";
import { CONTAINER, linux, MACHINE, mounts, WSL } from "./recordings/linux.ts";

interface Device {
	name: string;
	kname?: string;
	type: string;
	fstype?: string;
	uuid?: string;
	label?: string;
	at?: (string | null)[];
	children?: Device[];
}

const NEW =
	"lsblk --json --output NAME,KNAME,TYPE,FSTYPE,UUID,LABEL,MOUNTPOINTS";
const OLD =
	"lsblk --json --output NAME,KNAME,TYPE,FSTYPE,UUID,LABEL,MOUNTPOINT";

const lsblk = (...devices: Device[]) =>
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
const disk = (...children: Device[]): Device => ({
	name: "nvme0n1",
	type: "disk",
	children: [efi, boot, ...children],
});
const crypt = (name: string, kname: string, more: Partial<Device>): Device => ({
	name,
	kname,
	type: "crypt",
	...more,
});
const luks = (name: string, ...children: Device[]): Device => ({
	name,
	type: "part",
	fstype: "crypto_LUKS",
	children,
});

const NO_SWAP = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
const swapOn = (path: string, type = "partition") =>
	`${NO_SWAP}${path}                               ${type}\t8388604\t\t0\t\t-2\n`;
const LUKS2 = "CRYPT-LUKS2-5f2b1c9e0d8a4f7c9b3e2d1a0c9b8a7f-luks-5f2b1c9e\n";

const check = (
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

test("LVM on LUKS, with the swap in it, is encrypted", async () => {
	const outcome = await check(
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
			[NEW]: lsblk(
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

test("LUKS on LVM is encrypted where it is opened", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts("/dev/mapper/cryptroot / xfs"),
			"/sys/block/dm-3/dm/uuid":
				"CRYPT-LUKS1-0d8a4f7c9b3e2d1a0c9b8a7f5f2b1c9e-cryptroot\n",
		},
		{
			[NEW]: lsblk(
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

test("subvolumes of btrfs on LUKS are encrypted, swap in memory does not count", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts(
				"/dev/mapper/luks-1 / btrfs",
				"/dev/mapper/luks-1 /home btrfs",
			),
			"/proc/swaps": swapOn("/dev/zram0"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[NEW]: lsblk(
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

test("an lsblk that knows one mountpoint only is understood", async () => {
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
	const outcome = await check(
		{
			"/proc/self/mounts": mounts(
				"/dev/mapper/luks-1 / btrfs",
				"/dev/mapper/luks-1 /home btrfs",
			),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[NEW]: { exitCode: 1, stderr: "lsblk: unknown column: MOUNTPOINTS\n" },
			[OLD]: JSON.stringify(old),
		},
	);
	expect(outcome.status).toBe("PASS");
});

test("a second disk of a btrfs that is not encrypted makes it fail", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts("/dev/mapper/luks-1 / btrfs"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[NEW]: lsblk(
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
	expect((await check(files, { [NEW]: lsblk(first, second) })).status).toBe(
		"PASS",
	);
	expect((await check(files, { [NEW]: lsblk(first, plain) })).status).toBe(
		"FAIL",
	);
});

test("a root on a plain partition fails, also without root's rights", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts("/dev/nvme0n1p3 / ext4"),
			"/proc/swaps": swapOn("/swap.img", "file"),
		},
		{
			[NEW]: lsblk(
				disk({ name: "nvme0n1p3", type: "part", fstype: "ext4", at: ["/"] }),
			),
		},
		false,
	);
	expect(outcome).toEqual({
		status: "FAIL",
		evidence: {
			root_encrypted: false,
			swap_encrypted: false,
			unencrypted: ["root", "swap"],
		},
	});
});

test("an encrypted home on a plain root fails and says which is plain", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts(
				"/dev/nvme0n1p3 / ext4",
				"/dev/mapper/home /home ext4",
			),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[NEW]: lsblk(
				disk(
					{ name: "nvme0n1p3", type: "part", fstype: "ext4", at: ["/"] },
					luks(
						"nvme0n1p4",
						crypt("home", "dm-0", { fstype: "ext4", at: ["/home"] }),
					),
				),
			),
		},
	);
	expect(outcome).toMatchObject({
		status: "FAIL",
		evidence: {
			root_encrypted: false,
			home_encrypted: true,
			unencrypted: ["root"],
		},
	});
});

test("home folders that are encrypted one by one are no full-disk encryption", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts(
				"/dev/sda2 / ext4",
				"/home/.ecryptfs/ada/.Private /home/ada ecryptfs",
			),
		},
		{
			[NEW]: lsblk({
				name: "sda",
				type: "disk",
				children: [{ name: "sda2", type: "part", fstype: "ext4", at: ["/"] }],
			}),
		},
	);
	expect(outcome).toMatchObject({
		status: "FAIL",
		evidence: { encrypted_folders: true },
	});
});

test("a plain swap beside an encrypted root fails", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts("/dev/mapper/root / ext4"),
			"/proc/swaps": swapOn("/dev/nvme0n1p4"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[NEW]: lsblk(
				disk(
					luks(
						"nvme0n1p3",
						crypt("root", "dm-0", { fstype: "ext4", at: ["/"] }),
					),
					{ name: "nvme0n1p4", type: "part", fstype: "swap", at: ["[SWAP]"] },
				),
			),
		},
	);
	expect(outcome).toMatchObject({
		status: "FAIL",
		evidence: {
			root_encrypted: true,
			swap_encrypted: false,
			unencrypted: ["swap"],
		},
	});
});

test("a swap with a key of its own at each start is encrypted", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts("/dev/mapper/root / ext4"),
			"/proc/swaps": swapOn("/dev/dm-1"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
			"/sys/block/dm-1/dm/uuid": "CRYPT-PLAIN-cryptswap\n",
		},
		{
			[NEW]: lsblk(
				disk(
					luks(
						"nvme0n1p3",
						crypt("root", "dm-0", { fstype: "ext4", at: ["/"] }),
					),
					{
						name: "nvme0n1p4",
						type: "part",
						children: [
							crypt("cryptswap", "dm-1", { fstype: "swap", at: ["[SWAP]"] }),
						],
					},
				),
			),
		},
	);
	expect(outcome).toMatchObject({
		status: "PASS",
		evidence: { methods: ["luks2"], swap_encrypted: true },
	});
});

test("dm-verity proves integrity and is no encryption", async () => {
	const outcome = await check(
		{
			"/proc/self/mounts": mounts("/dev/mapper/vroot / ext4"),
			"/sys/block/dm-0/dm/uuid": "CRYPT-VERITY-ab12-vroot\n",
		},
		{
			[NEW]: lsblk(
				disk({
					name: "nvme0n1p3",
					type: "part",
					children: [crypt("vroot", "dm-0", { fstype: "ext4", at: ["/"] })],
				}),
			),
		},
	);
	expect(outcome.status).toBe("FAIL");
});

const ZFS = "zfs get -H -o value encryption rpool/ROOT/ubuntu_1x2y3z";
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
	const outcome = await check(
		{ ...zfsRoot, "/sys/block/dm-0/dm/uuid": LUKS2 },
		{ [ZFS]: said, [NEW]: lsblk(disk(member)) },
	);
	expect(outcome.status).toBe(status);
});

test("an image-based system is judged by what lies below its overlay", async () => {
	const files = {
		"/proc/self/mounts": mounts(
			"composefs / overlay",
			"/dev/mapper/luks-1 /sysroot btrfs",
			"/dev/mapper/luks-1 /var btrfs",
		),
		"/sys/block/dm-0/dm/uuid": LUKS2,
	};
	const outcome = await check(files, {
		[NEW]: lsblk(
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

test.each([
	["a container", CONTAINER, "container"],
	["the Windows Subsystem for Linux", WSL, "wsl"],
	[
		"a container of LXC",
		{ "/proc/1/environ": "TERM=linux\0container=lxc\0" },
		"container",
	],
	[
		"a root over the network",
		{ "/proc/self/mounts": mounts("192.0.2.1:/srv/root / nfs4") },
		"network_root",
	],
	[
		"a system in memory",
		{
			"/proc/self/mounts": mounts("/cow / overlay", "/dev/sr0 /cdrom iso9660"),
		},
		"no_disk",
	],
])("%s has no disk of its own", async (_, files, reason) => {
	expect(await check(files)).toEqual({
		status: "NOT_APPLICABLE",
		evidence: { reason },
	});
});

test.each([
	["lsblk is missing", {}, {}, "command_missing"],
	[
		"lsblk fails",
		{},
		{ [NEW]: { exitCode: 1 }, [OLD]: { exitCode: 1 } },
		"command_failed",
	],
	[
		"lsblk says something else",
		{},
		{ [NEW]: "NAME TYPE\nsda disk\n" },
		"unrecognized_output",
	],
	[
		"the root is on no device that lsblk knows",
		{ "/proc/self/mounts": mounts("/dev/root / ext4") },
		{ [NEW]: lsblk(disk()) },
		"device_not_recognized",
	],
	[
		"the kind of a mapping cannot be read",
		{ "/proc/self/mounts": mounts("/dev/mapper/x / ext4") },
		{ [NEW]: lsblk(crypt("x", "dm-0", { at: ["/"] })) },
		"device_not_recognized",
	],
	[
		"nothing says what is mounted",
		{ "/proc/self/mounts": "" },
		{},
		"unrecognized_output",
	],
] as const)("unknown when %s", async (_, files, commands, reason) => {
	expect(await check(files, commands)).toMatchObject({
		status: "UNKNOWN",
		evidence: { reason },
	});
});
