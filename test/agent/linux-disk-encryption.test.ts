import { expect, test } from "vitest";
import {
	checkDisks,
	crypt,
	disk,
	LSBLK,
	LUKS2,
	lsblk,
	luks,
	OLD_LSBLK,
	swapOn,
} from "./linux-disks.ts";
import { CONTAINER, mounts, WSL } from "./recordings/linux.ts";

test("a root on an unencrypted partition fails, also without root's rights", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts("/dev/nvme0n1p3 / ext4"),
			"/proc/swaps": swapOn("/swap.img", "file"),
		},
		{
			[LSBLK]: lsblk(
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

test("an encrypted home on an unencrypted root fails, and the evidence says which is unencrypted", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts(
				"/dev/nvme0n1p3 / ext4",
				"/dev/mapper/home /home ext4",
			),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[LSBLK]: lsblk(
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

test("home folders that are encrypted one by one do not count as full-disk encryption", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts(
				"/dev/sda2 / ext4",
				"/home/.ecryptfs/ada/.Private /home/ada ecryptfs",
			),
		},
		{
			[LSBLK]: lsblk({
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

test("unencrypted swap beside an encrypted root fails", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts("/dev/mapper/root / ext4"),
			"/proc/swaps": swapOn("/dev/nvme0n1p4"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
		},
		{
			[LSBLK]: lsblk(
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

test("swap that gets a new key at each start is encrypted", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts("/dev/mapper/root / ext4"),
			"/proc/swaps": swapOn("/dev/dm-1"),
			"/sys/block/dm-0/dm/uuid": LUKS2,
			"/sys/block/dm-1/dm/uuid": "CRYPT-PLAIN-cryptswap\n",
		},
		{
			[LSBLK]: lsblk(
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

test("dm-verity proves integrity and does not count as encryption", async () => {
	const outcome = await checkDisks(
		{
			"/proc/self/mounts": mounts("/dev/mapper/vroot / ext4"),
			"/sys/block/dm-0/dm/uuid": "CRYPT-VERITY-ab12-vroot\n",
		},
		{
			[LSBLK]: lsblk(
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

test.each([
	["a container", CONTAINER, "container"],
	["the Windows Subsystem for Linux", WSL, "wsl"],
	[
		"a container of LXC",
		{ "/proc/1/environ": "TERM=linux\0container=lxc\0" },
		"container",
	],
	[
		"a root on the network",
		{ "/proc/self/mounts": mounts("192.0.2.1:/srv/root / nfs4") },
		"network_root",
	],
	[
		"a system that runs in memory",
		{
			"/proc/self/mounts": mounts("/cow / overlay", "/dev/sr0 /cdrom iso9660"),
		},
		"no_disk",
	],
])("%s has no disk of its own", async (_, files, reason) => {
	expect(await checkDisks(files)).toEqual({
		status: "NOT_APPLICABLE",
		evidence: { reason },
	});
});

test.each([
	["lsblk is missing", {}, {}, "command_missing"],
	[
		"lsblk fails",
		{},
		{ [LSBLK]: { exitCode: 1 }, [OLD_LSBLK]: { exitCode: 1 } },
		"command_failed",
	],
	[
		"lsblk prints something else",
		{},
		{ [LSBLK]: "NAME TYPE\nsda disk\n" },
		"unrecognized_output",
	],
	[
		"the root is on no device that lsblk knows",
		{ "/proc/self/mounts": mounts("/dev/root / ext4") },
		{ [LSBLK]: lsblk(disk()) },
		"device_not_recognized",
	],
	[
		"the root is on no disk",
		{ "/proc/self/mounts": mounts("none / hostfs") },
		{ [LSBLK]: lsblk(disk()) },
		"root_device_not_recognized",
	],
	[
		"the kind of a mapping cannot be read",
		{ "/proc/self/mounts": mounts("/dev/mapper/x / ext4") },
		{ [LSBLK]: lsblk(crypt("x", "dm-0", { at: ["/"] })) },
		"device_not_recognized",
	],
	[
		"the mounts cannot be read",
		{ "/proc/self/mounts": "" },
		{},
		"unrecognized_output",
	],
] as const)("the result is UNKNOWN when %s", async (_, files, commands, reason) => {
	expect(await checkDisks(files, commands)).toMatchObject({
		status: "UNKNOWN",
		evidence: { reason },
	});
});
