import type { Recording } from "../recorded-host.ts";
import { SSHD_CONFIG, sshdSays } from "./sshd.ts";

export const NAMES = "ps -J 0 -o comm=";
export const ARGUMENTS = "ps -J 0 -ww -o args=";
export const POOL = "zpool list -v -H -P zroot";
export const OWN_ENCRYPTION =
	"zfs get -H -t filesystem,volume -o name,value encryption";
export const NTP = "ntpq -n -c rv 0 leap,stratum";

const BASE = ["kernel", "init", "devd", "syslogd", "cron", "ntpd", "getty"];

/** Returns the output of `ps` on a machine that also runs these programs. */
export const running = (...more: string[]) =>
	`${[...BASE, ...more].join("\n")}\n`;

export const runningWithout = (...less: string[]) =>
	`${BASE.filter((name) => !less.includes(name)).join("\n")}\n`;

/** Returns a pool on these devices in the format of `zpool list -v -H -P`. */
export const pool = (...devices: string[]) =>
	`zroot\t460G\t38.1G\t422G\t-\t-\t3%\t8%\t1.00x\tONLINE\t-\n${
		devices.length > 1
			? "\tmirror-0\t460G\t38.1G\t422G\t-\t-\t3%\t8.28%\t-\tONLINE\n"
			: ""
	}${devices
		.map((device) => `\t${device}\t464G\t-\t-\t-\t-\t-\t-\t-\tONLINE\n`)
		.join("")}`;

export const swap = (...devices: string[]) =>
	`Device:       1024-blocks     Used:\n${devices
		.map((device) => `${device}    2097152         0\n`)
		.join("")}`;

export const CRONTAB = `# /etc/crontab - root's crontab for FreeBSD
#
SHELL=/bin/sh
PATH=/etc:/bin:/sbin:/usr/bin:/usr/sbin
#
#minute	hour	mday	month	wday	who	command
#
# Save some entropy so that /dev/random can re-seed on boot.
*/11	*	*	*	*	operator /usr/libexec/save-entropy
# Rotate log files every hour, if necessary.
0	*	*	*	*	root	newsyslog
# Perform daily/weekly/monthly maintenance.
1	3	*	*	*	root	periodic daily
`;

const PAM_PASSWD = `#
# PAM configuration for the "passwd" service
#

# passwd(1) does not use the auth, account or session services.

# password
#password	requisite	pam_passwdqc.so		enforce=users
password	required	pam_unix.so		no_warn try_first_pass nullok
`;

export const passwdqc = (options: string) =>
	PAM_PASSWD.replace(
		"#password	requisite	pam_passwdqc.so		enforce=users",
		`password	requisite	pam_passwdqc.so		${options}`,
	);

/** Returns ZFS's answer about its datasets, of which all have the same encryption or their own. */
export const datasets = (root: string, home = root, swapVolume = root) =>
	`zroot\toff\nzroot/ROOT/default\t${root}\nzroot/home\t${home}\nzroot/swap\t${swapVolume}\n`;

/**
 * A laptop with ZFS on GELI, pf and xautolock, on which every check passes. The agent runs as root.
 */
export const GOOD_BSD: Recording = {
	platform: "FREEBSD",
	commands: {
		"mount -p":
			"zroot/ROOT/default\t/\t\t\tzfs\trw,noatime,nfsv4acls \t0 0\ndevfs\t\t\t/dev\t\t\tdevfs\trw\t\t0 0\nzroot/home\t\t/home\t\t\tzfs\trw,noatime,nfsv4acls \t0 0\n",
		[OWN_ENCRYPTION]: datasets("off"),
		[POOL]: pool("/dev/nda0p4.eli"),
		"swapctl -l": swap("/dev/nda0p3.eli"),
		[NAMES]: running("Xorg", "i3", "xautolock", "clamd"),
		[ARGUMENTS]:
			"/sbin/init\n/usr/local/libexec/Xorg :0 -auth /home/jane/.serverauth.1234\nxautolock -time 10 -locker i3lock -c 000000\n",
		"pfctl -s info":
			"Status: Enabled for 3 days 04:11:09           Debug: Urgent\n\nState Table                          Total             Rate\n  current entries                       27               \n",
		"pfctl -s rules":
			"scrub in all fragment reassemble\nblock drop in all\npass out all flags S/SA keep state\npass in on em0 proto tcp from any to any port = ssh flags S/SA keep state\n",
		"sysctl -n net.inet.ip.fw.enable": {
			exitCode: 1,
			stderr: "sysctl: unknown oid 'net.inet.ip.fw.enable'\n",
		},
		"sysctl -n security.jail.jailed": "0\n",
		"sysctl -n kern.boottime":
			"{ sec = 1795000000, usec = 123456 } Thu Nov 18 11:46:40 2026\n",
		"sysctl -n kern.securelevel": "-1\n",
		"sysctl -n kern.hostuuid": "4c4c4544-0051-4a10-8054-b7c04f4d3233\n",
		[NTP]: "leap=00, stratum=3\n",
		"freebsd-version -kr": "14.5-RELEASE-p1\n14.5-RELEASE-p1\n",
		"freebsd-version -u": "14.5-RELEASE-p2\n",
		"kenv -q smbios.system.uuid": "4c4c4544-0051-4a10-8054-b7c04f4d3233\n",
		"kenv -q smbios.system.serial": "7QJTM23\n",
		"clamscan --version": "ClamAV 1.4.3/27829/Fri Nov 20 09:38:05 2026\n",
		"clamdscan --version": "ClamAV 1.4.3/27829/Fri Nov 20 09:38:05 2026\n",
	},
	files: {
		"/etc/ssh/sshd_config": SSHD_CONFIG,
		"/etc/crontab": `${CRONTAB}17	4	*	*	*	root	freebsd-update cron && freebsd-update install --not-running-from-cron\n`,
		"/etc/pam.d/passwd": passwdqc(
			"min=disabled,24,14,12,12 similar=deny retry=3 enforce=users",
		),
	},
};

/** A desktop on which every check fails. */
export const BAD_BSD: Recording = {
	platform: "FREEBSD",
	commands: {
		...GOOD_BSD.commands,
		[POOL]: pool("/dev/ada0p3", "/dev/ada1p3"),
		"swapctl -l": swap("/dev/ada0p2"),
		[NAMES]: `${runningWithout("ntpd")}Xorg\ntwm\nsshd\n`,
		"pfctl -s info": {
			exitCode: 1,
			stderr: "pfctl: /dev/pf: No such file or directory\n",
		},
		"freebsd-version -kr": "14.3-RELEASE-p2\n14.3-RELEASE-p2\n",
		"freebsd-version -u": "14.3-RELEASE-p3\n",
		"sshd -T": sshdSays({ kbdinteractiveauthentication: "yes" }),
	},
	files: {
		"/etc/crontab": `${CRONTAB}@daily	root	freebsd-update cron\n`,
		"/etc/pam.d/passwd": PAM_PASSWD,
	},
};
