import { LINUX_CHECKS } from "../../agent/checks/linux/all.ts";
import { UPDATE_UNITS } from "../../agent/checks/linux/auto-update.ts";
import { FIREWALL_UNITS } from "../../agent/checks/linux/firewall.ts";
import { PROTECTION_UNITS } from "../../agent/checks/linux/malware-protection.ts";
import { REMOTE_UNITS } from "../../agent/checks/linux/remote-login.ts";
import { restartStampArgs } from "../../agent/checks/linux/restart-pending.ts";
import { TIME_UNITS } from "../../agent/checks/linux/time-sync.ts";
import { findFacts } from "../../agent/facts/linux.ts";
import { MARKER } from "./hostile.ts";
import { testHostileOutput } from "./hostile-tests.ts";
import { crypt, type Device, LSBLK, lsblk, luks } from "./linux-disks.ts";
import {
	linux,
	mounts,
	OS_RELEASE,
	processes,
	searchedOn,
	units,
} from "./recordings/linux.ts";
import { sshdSays } from "./recordings/sshd.ts";

/** Returns the output of lsblk for a disk with this device on it. */
const diskWith = (second: Device) =>
	lsblk({ name: "sda", type: "disk", label: MARKER, children: [second] });
const nft = (policy: string) =>
	JSON.stringify({
		nftables: [
			{ table: { family: "inet", name: MARKER, handle: 1 } },
			{
				chain: {
					family: "inet",
					table: MARKER,
					name: MARKER,
					handle: 1,
					type: "filter",
					hook: "input",
					prio: 0,
					policy,
				},
			},
			{
				rule: {
					family: "inet",
					table: MARKER,
					chain: MARKER,
					handle: 2,
					comment: MARKER,
					expr: [
						{
							match: {
								op: "==",
								left: { ct: { key: "state" } },
								right: MARKER,
							},
						},
						{ accept: null },
					],
				},
			},
		],
	});
const TCP =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 27131 1 0 100 0 0 10 0\n";
const DEV = `Inter-|   Receive\n face |bytes    packets\n    lo: 90 1\n  eth0: 90 1\n${MARKER}: 90 1\n`;
const INET6 = "fe80000000000000021122fffe334455 02 40 20 80     eth0\n";
const apt = (upgrade: string) =>
	`APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "${upgrade}";\nUnattended-Upgrade::Allowed-Origins:: "Ubuntu:noble-security";\n`;

/**
 * Files that both devices have. The marker is in every place where a device may have a name or a
 * secret.
 */
const FILES = {
	"/proc/sys/kernel/osrelease": "6.8.0-49-generic\n",
	"/proc/swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
	"/proc/uptime": "86400.12 170000.00\n",
	"/proc/net/tcp": TCP,
	"/proc/net/if_inet6": INET6,
	"/proc/net/dev": DEV,
	[`/sys/class/net/${MARKER}/uevent`]: `INTERFACE=${MARKER}\nIFINDEX=4\n`,
	"/proc/sys/kernel/random/boot_id": `${MARKER}\n`,
	"/etc/machine-id": "0123456789abcdef0123456789abcdef\n",
	"/etc/pam.d/passwd": "@include common-password\n",
	"/etc/login.defs": `# ${MARKER}\nPASS_MAX_DAYS\t90\n`,
	...processes(
		{ name: "sddm" },
		{ name: MARKER, uid: 1000, args: [MARKER] },
		{ name: "sway", uid: 1000 },
		{ name: "swayidle", uid: 1000, args: ["swayidle"] },
		{ name: "plasmashell", uid: 1001 },
	),
};
const FOLDERS = { "/usr/bin": ["apt", "unattended-upgrade", MARKER] };
const ACCOUNTS = {
	"getent passwd 1000": `${MARKER}:x:1000:1000:${MARKER},,,:/home/${MARKER}:/bin/bash\n`,
	"getent passwd 1001": "bob:x:1001:1001::/home/bob:/bin/bash\n",
};

const GOOD = linux({
	folders: FOLDERS,
	files: {
		...FILES,
		"/proc/self/mounts": mounts(
			"/dev/mapper/root / ext4",
			`/dev/fuse /home/${MARKER}/x fuse.${MARKER}`,
		),
		"/sys/block/dm-0/dm/uuid": `CRYPT-LUKS2-5f2b1c9e0d8a4f7c9b3e2d1a0c9b8a7f-${MARKER}\n`,
		"/etc/os-release": OS_RELEASE.ubuntu,
		"/etc/pam.d/common-password":
			"password requisite pam_pwquality.so retry=3\npassword [success=1 default=ignore] pam_unix.so use_authtok\n",
		"/etc/security/pwquality.conf": "minlen = 12\n",
		"/etc/ssh/sshd_config": `Banner /etc/${MARKER}\nAllowUsers ${MARKER}\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n`,
		[`/home/${MARKER}/.config/swayidle/config`]: `timeout 300 'swaylock -f -i /home/${MARKER}/x.png'\n`,
		"/home/bob/.config/kscreenlockerrc": "[Daemon]\nTimeout=10\n",
		"/sys/module/apparmor/parameters/enabled": "Y\n",
		"/sys/kernel/security/apparmor/profiles": `/home/${MARKER}/bin/x (enforce)\n`,
	},
	commands: {
		...ACCOUNTS,
		...units(FIREWALL_UNITS, { "nftables.service": "running" }),
		...units(REMOTE_UNITS, { "ssh.service": "running" }),
		...units(TIME_UNITS, { "chrony.service": "running" }),
		...units(UPDATE_UNITS, {
			"apt-daily.timer": "running",
			"apt-daily-upgrade.timer": "running",
		}),
		...units(PROTECTION_UNITS, {}),
		[LSBLK]: diskWith(
			luks("sda2", crypt("root", "dm-0", { fstype: "ext4", at: ["/"] })),
		),
		"nft -j -t list ruleset": nft("drop"),
		"timedatectl show --property=NTPSynchronized": "NTPSynchronized=yes\n",
		"apt-config dump": apt("1"),
		...searchedOn(["2026-11-20"], ["unattended-upgrades"]),
		[["stat", ...restartStampArgs()].join(" ")]:
			"1795132800 1795132800 /run/reboot-required\n",
		"sshd -T": sshdSays({ banner: MARKER, allowusers: MARKER }),
	},
});

const BAD = linux({
	folders: FOLDERS,
	files: {
		...FILES,
		"/proc/self/mounts": mounts("/dev/sda2 / ext4"),
		"/etc/os-release": OS_RELEASE.ubuntu.replaceAll("24.04", "25.04"),
		"/etc/pam.d/common-password":
			"password [success=1 default=ignore] pam_unix.so obscure\n",
		"/etc/ssh/sshd_config": `AllowUsers ${MARKER}\n`,
		[`/home/${MARKER}/.config/swayidle/config`]: `timeout 3600 'swaylock -f'\n`,
		"/home/bob/.config/kscreenlockerrc": "[Daemon]\nAutolock=false\n",
		"/sys/module/apparmor/parameters/enabled": "N\n",
	},
	commands: {
		...ACCOUNTS,
		...units(FIREWALL_UNITS, {}),
		...units(REMOTE_UNITS, { "ssh.service": "running" }),
		...units(TIME_UNITS, { "chrony.service": "running" }),
		...units(UPDATE_UNITS, {
			"apt-daily.timer": "running",
			"apt-daily-upgrade.timer": "running",
		}),
		...units(PROTECTION_UNITS, {}),
		[LSBLK]: diskWith({
			name: "sda2",
			type: "part",
			fstype: "ext4",
			at: ["/"],
		}),
		"nft -j -t list ruleset": nft("accept"),
		"iptables-save":
			"*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n",
		"ip6tables -S": "-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n",
		"timedatectl show --property=NTPSynchronized": "NTPSynchronized=no\n",
		"chronyc -n tracking": "Leap status     : Not synchronised\n",
		"apt-config dump": apt("0"),
		"sshd -T": sshdSays({ passwordauthentication: "yes" }),
	},
});

testHostileOutput({ checks: LINUX_CHECKS, findFacts, good: GOOD, bad: BAD });
