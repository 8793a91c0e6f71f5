import {
	STAMPS,
	searchStampArgs,
} from "../../../agent/checks/linux/patch-stamps.ts";
import type { FileResult } from "../../../agent/host.ts";
import type { Recording } from "../recorded-host.ts";

// This file has parts for recordings of Linux devices. They look like the output of real commands
// and real files.

export type Files = NonNullable<Recording["files"]>;

/** The result of reading a file that only root may read. */
export const DENIED: FileResult = { kind: "denied" };

/**
 * The state of a unit: `running`, `enabled` but not running, or `stopped`. Units that are not named
 * do not exist.
 */
export type UnitState = "running" | "enabled" | "stopped";

/** Returns systemd's answer for the units that a check asks for. */
export function units(
	asked: readonly string[],
	states: Record<string, UnitState>,
): Record<string, string> {
	const blocks = asked.map((unit) => {
		const state = states[unit];
		return state === undefined
			? "LoadState=not-found\nActiveState=inactive\nUnitFileState=\n"
			: [
					"LoadState=loaded",
					`ActiveState=${state === "running" ? "active" : "inactive"}`,
					`UnitFileState=${state === "stopped" ? "disabled" : "enabled"}\n`,
				].join("\n");
	});
	const property = "--property=LoadState,ActiveState,UnitFileState";
	return {
		[["systemctl show", property, ...asked].join(" ")]: blocks.join("\n"),
	};
}

/** Returns the files in /proc for the first process and the given ones. */
export function processes(
	...others: {
		name: string;
		uid?: number;
		args?: string[];
		environ?: string[];
	}[]
): Record<string, string> {
	const files: Record<string, string> = {};
	for (const [index, process] of [{ name: "systemd" }, ...others].entries()) {
		const {
			name,
			uid = 0,
			args,
			environ,
		} = { uid: 0, args: undefined, environ: undefined, ...process };
		const folder = `/proc/${index === 0 ? 1 : 1000 + index}`;
		files[`${folder}/status`] =
			`Name:\t${name.slice(0, 15)}\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t1\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nGid:\t${uid}\t${uid}\t${uid}\t${uid}\n`;
		if (args) files[`${folder}/cmdline`] = `${args.join("\0")}\0`;
		if (environ) files[`${folder}/environ`] = `${environ.join("\0")}\0`;
	}
	return files;
}

/**
 * Returns the mounts of an ordinary laptop. `root` is the line of the root file system, and
 * `others` are the lines after it.
 */
export function mounts(root: string, ...others: string[]): string {
	return [
		"sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0",
		"proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0",
		"udev /dev devtmpfs rw,nosuid,relatime,size=8013284k,nr_inodes=2003321,mode=755 0 0",
		"tmpfs /run tmpfs rw,nosuid,nodev,noexec,relatime,size=1610040k,mode=755 0 0",
		`${root} rw,relatime 0 0`,
		"tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0",
		...others.map((mount) => `${mount} rw,relatime 0 0`),
		"",
	].join("\n");
}

/** A machine that is neither a container nor WSL and has its own disk. */
export const MACHINE = {
	"/proc/sys/kernel/osrelease": "6.8.0-49-generic\n",
	"/proc/self/mounts": mounts("/dev/sda2 / ext4"),
};

/** A container of an engine such as Docker. */
export const CONTAINER = {
	"/proc/sys/kernel/osrelease": "6.8.0-49-generic\n",
	"/proc/self/mounts": mounts("overlay / overlay"),
	"/.dockerenv": "",
};

export const WSL = {
	"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n",
	"/proc/self/mounts": mounts("/dev/sdc / ext4"),
};

export const OS_RELEASE = {
	ubuntu:
		'PRETTY_NAME="Ubuntu 24.04.2 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nVERSION="24.04.2 LTS (Noble Numbat)"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\nHOME_URL="https://www.ubuntu.com/"\nUBUNTU_CODENAME=noble\nLOGO=ubuntu-logo\n',
	debian:
		'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n',
	fedora:
		'NAME="Fedora Linux"\nVERSION="43 (Workstation Edition)"\nRELEASE_TYPE=stable\nID=fedora\nVERSION_ID=43\nPRETTY_NAME="Fedora Linux 43 (Workstation Edition)"\nREDHAT_BUGZILLA_PRODUCT_VERSION=43\nSUPPORT_END=2026-12-02\nVARIANT_ID=workstation\n',
	rocky:
		'NAME="Rocky Linux"\nVERSION="9.5 (Blue Onyx)"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.5"\nPLATFORM_ID="platform:el9"\nPRETTY_NAME="Rocky Linux 9.5 (Blue Onyx)"\n',
	arch: 'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n',
	alpine:
		'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.1\nPRETTY_NAME="Alpine Linux v3.22"\n',
};

/** Returns the command with which the agent asks for the times of a mechanism's files. */
export const stampCommand = (mechanism: string, ...more: string[]) =>
	["stat", ...searchStampArgs(mechanism, more)].join(" ");

/**
 * Returns what stat prints if files of these mechanisms were changed on these days and others are
 * missing. Without mechanisms, the files of all have these times.
 */
export function searchedOn(
	days: readonly string[],
	mechanisms: readonly string[] = Object.keys(STAMPS),
) {
	const printed = {
		exitCode: 1,
		stdout: days.map((day) => `${Date.parse(day) / 1000}\n`).join(""),
		stderr: "stat: cannot statx '/ostree/deploy': No such file or directory\n",
	};
	return Object.fromEntries(
		mechanisms.map((mechanism) => [stampCommand(mechanism), printed]),
	);
}

/**
 * Returns a recording of a Linux device. Parts from this file may be spread into its commands and
 * files.
 */
export const linux = (recording: Omit<Recording, "platform">): Recording => ({
	platform: "LINUX",
	...recording,
});
