import { bsdTable } from "./freebsd-table.ts";
import { commands } from "./recorded-table.ts";
import {
	datasets,
	OWN_ENCRYPTION,
	POOL,
	pool,
	swap,
} from "./recordings/freebsd.ts";

const root = (line: string, more = "") =>
	`${line}\t\t/\t\t\tufs\trw\t\t1 1\n${more}devfs\t\t\t/dev\t\t\tdevfs\trw\t\t0 0\n`;

bsdTable("DISK_ENCRYPTION", [
	[
		"ZFS and swap on GELI",
		{},
		"PASS",
		{
			file_system: "zfs",
			engine: "geli",
			root_encrypted: true,
			home_encrypted: true,
			swap_encrypted: true,
		},
	],
	[
		"ZFS on unencrypted disks",
		commands({ [POOL]: pool("/dev/ada0p3", "/dev/ada1p3") }),
		"FAIL",
		{
			file_system: "zfs",
			engine: "none",
			root_encrypted: false,
			home_encrypted: false,
			swap_encrypted: true,
			unencrypted: ["root", "home"],
		},
	],
	[
		"a mirror with one unencrypted disk",
		commands({ [POOL]: pool("/dev/ada0p3.eli", "/dev/gpt/zfs1") }),
		"FAIL",
		{
			file_system: "zfs",
			engine: "none",
			root_encrypted: false,
			home_encrypted: false,
			swap_encrypted: true,
			unencrypted: ["root", "home"],
		},
	],
	[
		"an encrypted dataset with swap in its pool",
		commands({
			[OWN_ENCRYPTION]: datasets("aes-256-gcm"),
			[POOL]: pool("/dev/ada0p3"),
			"swapctl -l": swap("/dev/zvol/zroot/swap"),
		}),
		"PASS",
		{
			file_system: "zfs",
			engine: "zfs",
			root_encrypted: true,
			home_encrypted: true,
			swap_encrypted: true,
		},
	],
	[
		"an encrypted root beside home folders that are not encrypted",
		commands({
			[OWN_ENCRYPTION]: datasets("aes-256-gcm", "off"),
			[POOL]: pool("/dev/ada0p3"),
			"swapctl -l": swap(),
		}),
		"FAIL",
		{
			file_system: "zfs",
			engine: "zfs",
			root_encrypted: true,
			home_encrypted: false,
			unencrypted: ["home"],
		},
	],
	[
		"a second disk without encryption",
		commands({
			"mount -p": root(
				"/dev/ada0p2.eli",
				"/dev/ada1p1\t/backup\tufs\trw\t2 2\n",
			),
		}),
		"FAIL",
		{
			file_system: "ufs",
			engine: "geli",
			root_encrypted: true,
			other_encrypted: false,
			swap_encrypted: true,
			unencrypted: ["other"],
		},
	],
	[
		"a second disk of unknown devices",
		commands({
			"mount -p": root(
				"/dev/ada0p2.eli",
				"/dev/mirror/gm1\t/var\tufs\trw\t2 2\n",
			),
		}),
		"UNKNOWN",
		{
			reason: "storage_not_recognized",
			file_system: "ufs",
			engine: "geli",
			root_encrypted: true,
			var_encrypted: "unknown",
			swap_encrypted: true,
		},
	],
	[
		"a disk on USB does not count",
		commands({
			"mount -p": root("/dev/ada0p2.eli", "/dev/da0p1\t/mnt\tufs\trw\t2 2\n"),
		}),
		"PASS",
		{
			file_system: "ufs",
			engine: "geli",
			root_encrypted: true,
			swap_encrypted: true,
		},
	],
	[
		"unencrypted swap",
		commands({ "swapctl -l": swap("/dev/nda0p3") }),
		"FAIL",
		{
			file_system: "zfs",
			engine: "geli",
			root_encrypted: true,
			home_encrypted: true,
			swap_encrypted: false,
			unencrypted: ["swap"],
		},
	],
	[
		"no swap",
		commands({ "swapctl -l": swap() }),
		"PASS",
		{
			file_system: "zfs",
			engine: "geli",
			root_encrypted: true,
			home_encrypted: true,
		},
	],
	[
		"UFS on GELI, partitioned inside",
		commands({ "mount -p": root("/dev/ada0.elip2") }),
		"PASS",
		{
			file_system: "ufs",
			engine: "geli",
			root_encrypted: true,
			swap_encrypted: true,
		},
	],
	[
		"UFS with a label that is on GELI",
		commands({
			"mount -p": root("/dev/ufs/rootfs"),
			"glabel status":
				"              Name  Status  Components\n       gpt/bootfs     N/A  ada0p1\n       ufs/rootfs     N/A  ada0p2.eli\n",
		}),
		"PASS",
		{
			file_system: "ufs",
			engine: "geli",
			root_encrypted: true,
			swap_encrypted: true,
		},
	],
	[
		"UFS on an unencrypted disk of a virtual machine",
		commands({
			"mount -p": root("/dev/vtbd0p3"),
			"swapctl -l": swap("/dev/vtbd0p2"),
		}),
		"FAIL",
		{
			file_system: "ufs",
			engine: "none",
			root_encrypted: false,
			swap_encrypted: false,
			unencrypted: ["root", "swap"],
		},
	],
	[
		"UFS on a mirror of unknown devices",
		commands({ "mount -p": root("/dev/mirror/gm0p2") }),
		"UNKNOWN",
		{
			reason: "storage_not_recognized",
			file_system: "ufs",
			swap_encrypted: true,
		},
	],
	[
		"swap on a mirror of unknown devices",
		commands({ "swapctl -l": swap("/dev/mirror/swap") }),
		"UNKNOWN",
		{
			reason: "swap_not_recognized",
			file_system: "zfs",
			engine: "geli",
			root_encrypted: true,
			home_encrypted: true,
		},
	],
	[
		"a root on the network",
		commands({ "mount -p": "server:/export\t/\tnfs\trw\t0 0\n" }),
		"UNKNOWN",
		{ reason: "file_system_not_known" },
	],
]);
