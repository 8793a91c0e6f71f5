import { describe, expect, test } from "vitest";
import { FREEBSD_CHECKS } from "../../agent/checks/freebsd/all.ts";
import { runChecks } from "../../agent/checks/run-checks.ts";
import { findFacts } from "../../agent/facts/freebsd.ts";
import { HOSTILE_TEXTS, MARKER, sayingAlso, sayingOnly } from "./hostile.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { type Change, changed, tableOf } from "./recorded-table.ts";
import {
	ARGUMENTS,
	BAD_BSD,
	CRONTAB,
	GOOD_BSD,
	NAMES,
	NTP,
	OWN_ENCRYPTION,
	POOL,
	passwdqc,
	pool,
	running,
	runningWithout,
	swap,
} from "./recordings/freebsd.ts";
import { sshdSays } from "./recordings/sshd.ts";

const bsd = (change: Change) => changed(GOOD_BSD, change);
const table = tableOf(GOOD_BSD, FREEBSD_CHECKS);

const commands = (said: NonNullable<Recording["commands"]>): Change => ({
	commands: said,
});
const file = (path: string, text: string): Change => ({
	files: { [path]: text },
});
const root = (line: string) =>
	`${line}\t\t/\t\t\tufs\trw\t\t1 1\ndevfs\t\t\t/dev\t\t\tdevfs\trw\t\t0 0\n`;

table("DISK_ENCRYPTION", [
	[
		"ZFS and swap on GELI",
		{},
		"PASS",
		{
			file_system: "zfs",
			engine: "geli",
			root_encrypted: true,
			swap_encrypted: true,
		},
	],
	[
		"ZFS on bare disks",
		commands({ [POOL]: pool("/dev/ada0p3", "/dev/ada1p3") }),
		"FAIL",
		{
			file_system: "zfs",
			engine: "none",
			root_encrypted: false,
			swap_encrypted: true,
		},
	],
	[
		"a mirror of which one half is bare",
		commands({ [POOL]: pool("/dev/ada0p3.eli", "/dev/gpt/zfs1") }),
		"FAIL",
		{
			file_system: "zfs",
			engine: "none",
			root_encrypted: false,
			swap_encrypted: true,
		},
	],
	[
		"an encrypted dataset with swap in its pool",
		commands({
			[OWN_ENCRYPTION]: "aes-256-gcm\n",
			[POOL]: pool("/dev/ada0p3"),
			"swapctl -l": swap("/dev/zvol/zroot/swap"),
			"zfs get -H -o value encryption zroot/swap": "aes-256-gcm\n",
		}),
		"PASS",
		{
			file_system: "zfs",
			engine: "zfs",
			root_encrypted: true,
			swap_encrypted: true,
		},
	],
	[
		"swap in the clear",
		commands({ "swapctl -l": swap("/dev/nda0p3") }),
		"FAIL",
		{
			file_system: "zfs",
			engine: "geli",
			root_encrypted: true,
			swap_encrypted: false,
		},
	],
	[
		"no swap",
		commands({ "swapctl -l": swap() }),
		"PASS",
		{ file_system: "zfs", engine: "geli", root_encrypted: true },
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
		"UFS by its label, which lies on GELI",
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
		"UFS on a bare disk of a virtual machine",
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
		},
	],
	[
		"UFS on a mirror of we know not what",
		commands({ "mount -p": root("/dev/mirror/gm0p2") }),
		"UNKNOWN",
		{
			reason: "storage_not_recognized",
			file_system: "ufs",
			swap_encrypted: true,
		},
	],
	[
		"a root over the network",
		commands({ "mount -p": "server:/export\t/\tnfs\trw\t0 0\n" }),
		"UNKNOWN",
		{ reason: "file_system_not_known" },
	],
]);

table("SCREEN_LOCK", [
	[
		"xautolock after 10 minutes",
		{},
		"PASS",
		{ lock_enabled: true, locker: "xautolock", idle_seconds: 600 },
	],
	[
		"xautolock after an hour",
		commands({
			[ARGUMENTS]: "/usr/local/bin/xautolock -time 60 -locker slock\n",
		}),
		"FAIL",
		{ lock_enabled: true, locker: "xautolock", idle_seconds: 3600 },
	],
	[
		"xautolock with a command that may lock nothing",
		commands({ [ARGUMENTS]: "xautolock -time 5 -locker zzz\n" }),
		"UNKNOWN",
		{ reason: "locker_settings_not_read", locker: "xautolock" },
	],
	[
		"swayidle, the display off before the lock",
		commands({
			[NAMES]: running("sway", "swayidle"),
			[ARGUMENTS]:
				"swayidle -w timeout 60 swaymsg output * dpms off timeout 300 swaylock -f before-sleep swaylock -f\n",
		}),
		"PASS",
		{ lock_enabled: true, locker: "swayidle", idle_seconds: 300 },
	],
	[
		"nothing that could lock",
		commands({ [NAMES]: running("Xorg", "twm") }),
		"FAIL",
		{ lock_enabled: false, locker: "none" },
	],
	[
		"a desktop with its own settings",
		commands({ [NAMES]: running("Xorg", "plasmashell", "kwin_x11") }),
		"UNKNOWN",
		{ reason: "desktop_settings_not_read" },
	],
	[
		"xscreensaver",
		commands({ [NAMES]: running("Xorg", "xscreensaver") }),
		"UNKNOWN",
		{ reason: "locker_settings_not_read", locker: "xscreensaver" },
	],
	[
		"nobody logged in",
		commands({ [NAMES]: running("Xorg", "lightdm-gtk-greeter") }),
		"UNKNOWN",
		{ reason: "nobody_logged_in" },
	],
	[
		"a server",
		commands({ [NAMES]: running("sshd") }),
		"NOT_APPLICABLE",
		{ reason: "no_desktop" },
	],
	[
		"other people's programs hidden",
		{ isPrivileged: false, commands: { [NAMES]: "sh\nps\n" } },
		"UNKNOWN",
		{ reason: "needs_root" },
	],
]);

const noPf = {
	"pfctl -s info": {
		exitCode: 1,
		stderr: "pfctl: /dev/pf: No such file or directory\n",
	},
};
const ipfw = (rules: string) =>
	commands({
		...noPf,
		"sysctl -n net.inet.ip.fw.enable": "1\n",
		"ipfw list": rules,
	});
const pf = (rules: string) => commands({ "pfctl -s rules": rules });

table("FIREWALL_ENABLED", [
	[
		"pf that blocks by default",
		{},
		"PASS",
		{ engine: "pf", enabled: true, default_block: true },
	],
	[
		"pf that lets all in at the end",
		pf("block drop in all\npass in all flags S/SA keep state\n"),
		"FAIL",
		{ engine: "pf", enabled: true, default_block: false },
	],
	[
		"pf that blocks at once",
		pf("block return in log quick all\npass all flags S/SA keep state\n"),
		"PASS",
		{ engine: "pf", enabled: true, default_block: true },
	],
	[
		"pf without rules",
		pf(""),
		"FAIL",
		{ engine: "pf", enabled: true, default_block: false },
	],
	[
		"pf that blocks some",
		pf(
			"block drop in quick on em0 from <bruteforce> to any\npass out all flags S/SA keep state\n",
		),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "pf" },
	],
	[
		"pf with the rules of another program",
		pf('anchor "blacklistd/*" in on em0 all\n'),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "pf" },
	],
	[
		"ipfw of the type workstation",
		ipfw(
			"00100 allow ip from any to any via lo0\n00200 deny ip from any to 127.0.0.0/8\n00600 check-state :default\n00900 allow tcp from me to any established\n65000 count ip from any to any\n65100 deny { tcp or udp } from any to any 135-139,445 in\n65535 deny ip from any to any\n",
		),
		"PASS",
		{ engine: "ipfw", enabled: true, default_block: true },
	],
	[
		"ipfw of the type open",
		ipfw(
			"00100 allow ip from any to any via lo0\n00200 deny ip from any to 127.0.0.0/8\n65000 allow ip from any to any\n65535 deny ip from any to any\n",
		),
		"FAIL",
		{ engine: "ipfw", enabled: true, default_block: false },
	],
	[
		"IPFilter that blocks",
		commands({
			...noPf,
			"ipf -V":
				"ipf: IP Filter: v5.1.2 (608)\nKernel: IP Filter: v5.1.2\nRunning: yes\nLog Flags: 0 = none set\nDefault: pass all, Logging: available\nActive list: 0\n",
			"ipfstat -i": "block in log all\npass in quick on lo0 all\n",
		}),
		"PASS",
		{ engine: "ipfilter", enabled: true, default_block: true },
	],
	["none of the three", commands(noPf), "FAIL", { enabled: false }],
	[
		"pf without root",
		{
			isPrivileged: false,
			commands: {
				"pfctl -s info": {
					exitCode: 1,
					stderr: "pfctl: /dev/pf: Permission denied\n",
				},
			},
		},
		"UNKNOWN",
		{ reason: "needs_root", engine: "pf" },
	],
	[
		"a kernel that does not answer",
		commands({
			...noPf,
			"sysctl -n net.inet.ip.fw.enable": { ended: "timed_out" },
		}),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "ipfw" },
	],
]);

table("TIME_SYNC", [
	["ntpd in step", {}, "PASS", { service: "ntpd", synchronized: true }],
	[
		"ntpd that follows nothing for days",
		commands({ [NTP]: "leap=11, stratum=16\n" }),
		"FAIL",
		{ service: "ntpd", synchronized: false },
	],
	[
		"ntpd that follows nothing yet",
		{
			now: "2026-11-18T11:50:00Z",
			commands: {
				[NTP]: "leap=11, stratum=16\n",
				"sysctl -n kern.boottime":
					"{ sec = 1795002500, usec = 1 } Wed Nov 18 11:48:20 2026\n",
			},
		},
		"UNKNOWN",
		{ reason: "not_yet_synchronized", service: "ntpd", synchronized: false },
	],
	[
		"chrony",
		commands({
			[NAMES]: `${runningWithout("ntpd")}chronyd\n`,
			"chronyc -n tracking":
				"Reference ID    : A29FC801 (162.159.200.1)\nStratum         : 4\nLeap status     : Normal\n",
		}),
		"PASS",
		{ service: "chrony", synchronized: true },
	],
	[
		"OpenNTPD",
		commands({
			[NTP]: { exitCode: 1, stderr: "ntpq: read: Connection refused\n" },
			"ntpctl -s status": "4/4 peers valid, clock synced, stratum 3\n",
		}),
		"PASS",
		{ service: "openntpd", synchronized: true },
	],
	[
		"ntpdate at the start alone",
		commands({ [NAMES]: runningWithout("ntpd") }),
		"FAIL",
		{ service: "none" },
	],
	[
		"a service that does not answer",
		{ without: [NTP] },
		"UNKNOWN",
		{ reason: "service_does_not_answer", service: "ntpd" },
	],
	[
		"a jail",
		commands({ "sysctl -n security.jail.jailed": "1\n" }),
		"NOT_APPLICABLE",
		{ reason: "jail" },
	],
]);

const version = (userland: string, kernel = userland, runs = kernel) =>
	commands({
		"freebsd-version -u": `${userland}\n`,
		"freebsd-version -kr": `${kernel}\n${runs}\n`,
	});
const tag = (release: string, seconds: number) =>
	`freebsd-update|amd64|${release}|1|${"0a".repeat(32)}|${seconds}\n`;

table("OS_VERSION", [
	[
		"supported",
		{},
		"PASS",
		{
			version: "14.5-RELEASE-p2",
			supported_until: "2027-06-30",
			supported: true,
		},
	],
	[
		"supported, its new kernel not yet started",
		version("15.1-RELEASE-p3", "15.1-RELEASE-p3", "15.1-RELEASE"),
		"PASS",
		{
			version: "15.1-RELEASE-p3",
			restart_pending: true,
			supported_until: "2027-03-31",
			supported: true,
		},
	],
	[
		"a release that ended",
		version("15.0-RELEASE-p9"),
		"FAIL",
		{
			version: "15.0-RELEASE-p9",
			supported_until: "2026-09-30",
			supported: false,
		},
	],
	[
		"a release of a branch that ended",
		version("13.2-RELEASE-p11"),
		"FAIL",
		{
			version: "13.2-RELEASE-p11",
			supported: false,
			supported_until: "2026-04-30",
		},
	],
	[
		"an old branch",
		version("12.4-RELEASE-p9"),
		"FAIL",
		{ version: "12.4-RELEASE-p9", supported: false },
	],
	[
		"a stable branch",
		version("14.5-STABLE"),
		"PASS",
		{ version: "14.5-STABLE", supported_until: "2028-11-30", supported: true },
	],
	[
		"a release after this program, as freebsd-update knows it",
		{
			...version("15.2-RELEASE"),
			...file("/var/db/freebsd-update/tag", tag("15.2-RELEASE", 1822348800)),
		},
		"PASS",
		{ version: "15.2-RELEASE", supported_until: "2027-10-01", supported: true },
	],
	[
		"a release after this program, freebsd-update knowing another",
		{
			...version("15.2-RELEASE"),
			...file("/var/db/freebsd-update/tag", tag("15.1-RELEASE", 1822348800)),
		},
		"UNKNOWN",
		{ reason: "release_not_known", version: "15.2-RELEASE" },
	],
	[
		"a jail, which has no kernel",
		commands({
			"freebsd-version -kr": {
				exitCode: 1,
				stderr: "freebsd-version: unable to locate kernel\n",
			},
		}),
		"PASS",
		{
			version: "14.5-RELEASE-p2",
			supported_until: "2027-06-30",
			supported: true,
		},
	],
	[
		"the development branch",
		version("16.0-CURRENT"),
		"UNKNOWN",
		{ reason: "development_version", version: "16.0-CURRENT" },
	],
	[
		"another system",
		version("5.15.0-91-generic"),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);

const crontab = (line: string) => file("/etc/crontab", `${CRONTAB}${line}\n`);

table("AUTO_UPDATE", [
	[
		"installed by cron",
		{},
		"PASS",
		{ mechanism: "freebsd-update", packages: false },
	],
	[
		"installed by root's own table",
		{
			files: {
				"/etc/crontab": CRONTAB,
				"/var/cron/tabs/root":
					"PAGER=cat\n@daily /usr/sbin/freebsd-update --not-running-from-cron fetch install\n",
			},
		},
		"PASS",
		{ mechanism: "freebsd-update", packages: false },
	],
	[
		"the base system as packages, upgraded",
		{
			...crontab("15 4 * * 1-5 root pkg upgrade -qy"),
			...commands({ "pkg info -e FreeBSD-runtime": "" }),
		},
		"PASS",
		{ mechanism: "pkgbase", packages: true },
	],
	[
		"only other packages upgraded",
		{
			...crontab("15 4 * * * root pkg upgrade -y"),
			...commands({ "pkg info -e FreeBSD-runtime": { exitCode: 1 } }),
		},
		"UNKNOWN",
		{ reason: "no_schedule_found", packages: true },
	],
	[
		"only downloaded",
		crontab("@daily root freebsd-update cron"),
		"FAIL",
		{ mechanism: "freebsd-update", download_only: true, packages: false },
	],
	[
		"commented out",
		crontab("#@daily root freebsd-update fetch install"),
		"UNKNOWN",
		{ reason: "no_schedule_found", packages: false },
	],
	[
		"root's table hidden",
		{
			isPrivileged: false,
			files: {
				"/etc/crontab": CRONTAB,
				"/var/cron/tabs/root": { kind: "denied" },
			},
		},
		"UNKNOWN",
		{ reason: "needs_root", packages: false },
	],
]);

const pam = (text: string) => file("/etc/pam.d/passwd", text);
const qc = { quality_module: "pam_passwdqc" };

table("PASSWORD_POLICY", [
	[
		"12 characters at least, root excepted",
		{},
		"PASS",
		{ ...qc, minimum_length: 12, enforced_for_root: false },
	],
	[
		"what FreeBSD comes with",
		pam(
			"password	required	pam_unix.so		no_warn try_first_pass nullok # pam_passwdqc.so\n",
		),
		"FAIL",
		{ minimum_length: 0, quality_module: "none" },
	],
	[
		"the module's own default",
		pam(passwdqc("")),
		"FAIL",
		{ ...qc, minimum_length: 7, enforced_for_root: true },
	],
	[
		"only a warning",
		pam(passwdqc("min=disabled,24,14,12,12 enforce=none")),
		"FAIL",
		{ ...qc, enforced: false },
	],
	[
		"settings in another file",
		pam(passwdqc("config=/usr/local/etc/passwdqc.conf")),
		"UNKNOWN",
		{ reason: "settings_elsewhere", ...qc },
	],
	[
		"lengths that are none",
		pam(passwdqc("min=twelve")),
		"UNKNOWN",
		{ reason: "unrecognized_output", ...qc },
	],
	[
		"another module",
		pam("password requisite /usr/local/lib/pam_pwquality.so minlen=14\n"),
		"UNKNOWN",
		{ reason: "module_not_known" },
	],
	[
		"no such file",
		{ without: ["/etc/pam.d/passwd"] },
		"UNKNOWN",
		{ reason: "pam_settings_not_readable" },
	],
]);

const ssh = {
	ssh_running: true,
	port: 22,
	root_login: "no",
	loopback_only: false,
};

table("REMOTE_LOGIN", [
	["nothing", {}, "PASS", { ssh_running: false }],
	[
		"SSH with keys only",
		commands({
			[NAMES]: running("sshd"),
			"sshd -T": sshdSays({ permitrootlogin: "no" }),
		}),
		"PASS",
		{ ...ssh, password_authentication: false },
	],
	[
		"SSH as FreeBSD comes",
		commands({
			[NAMES]: running("sshd"),
			"sshd -T": sshdSays({
				permitrootlogin: "no",
				kbdinteractiveauthentication: "yes",
			}),
		}),
		"FAIL",
		{ ...ssh, password_authentication: true },
	],
	[
		"SSH with root's own key",
		commands({
			[NAMES]: running("sshd"),
			"sshd -T": sshdSays({ permitrootlogin: "yes" }),
		}),
		"FAIL",
		{ ...ssh, root_login: "yes", password_authentication: false },
	],
	[
		"a remote desktop",
		commands({ [NAMES]: running("Xvnc", "xrdp") }),
		"FAIL",
		{ open_services: ["rdp", "vnc"] },
	],
	[
		"telnet behind inetd",
		{
			...commands({ [NAMES]: running("inetd") }),
			...file(
				"/etc/inetd.conf",
				"#ftp\tstream\ttcp\tnowait\troot\t/usr/libexec/ftpd\tftpd -l\ntelnet\tstream\ttcp\tnowait\troot\t/usr/local/libexec/telnetd\ttelnetd\n",
			),
		},
		"FAIL",
		{ open_services: ["telnet"] },
	],
	[
		"inetd with settings that cannot be read",
		commands({ [NAMES]: running("inetd") }),
		"UNKNOWN",
		{ reason: "inetd_settings_not_readable" },
	],
	[
		"programs that cannot be seen",
		{ without: [NAMES] },
		"UNKNOWN",
		{ reason: "processes_not_readable" },
	],
]);

const clam = {
	engine: "clamav",
	running: true,
	securelevel: -1,
	version: "1.4.3",
	definitions_version: "27829",
};

table("MALWARE_PROTECTION", [
	[
		"ClamAV with signatures of yesterday",
		{},
		"PASS",
		{ ...clam, definitions_current: true },
	],
	[
		"ClamAV with signatures of last month",
		{ now: "2026-12-24T00:00:00Z" },
		"FAIL",
		{ ...clam, definitions_current: false },
	],
	[
		"ClamAV that does not run",
		commands({ [NAMES]: running() }),
		"FAIL",
		{ engine: "clamav", running: false, securelevel: -1 },
	],
	[
		"no scanner",
		{
			without: ["clamscan --version"],
			...commands({ "sysctl -n kern.securelevel": "2\n" }),
		},
		"NOT_APPLICABLE",
		{ reason: "no_built_in_protection", securelevel: 2 },
	],
	[
		"ClamAV without signatures",
		commands({
			"clamscan --version": "ClamAV 1.4.3\n",
			"clamdscan --version": "ClamAV 1.4.3\n",
		}),
		"UNKNOWN",
		{
			reason: "unrecognized_output",
			engine: "clamav",
			running: true,
			securelevel: -1,
		},
	],
]);

describe("facts", () => {
	const facts = (change: Change) => findFacts(recordedHost(bsd(change)));
	const made = "0f1e2d3c-4b5a-11ef-8a11-0c4d2e9f7a63";

	test("a machine names itself by its firmware", async () => {
		expect(await facts({})).toEqual({
			hardware_uuid: "4c4c4544-0051-4a10-8054-b7c04f4d3233",
			serial_number: "7QJTM23",
			os_version: "FreeBSD 14.5-RELEASE-p2",
		});
	});

	test("a board that shares its numbers with others is known by its host UUID", async () => {
		expect(
			await facts(
				commands({
					"kenv -q smbios.system.uuid":
						"03000200-0400-0500-0006-000700080009\n",
					"kenv -q smbios.system.serial": "To be filled by O.E.M.\n",
					"sysctl -n kern.hostuuid": `${made}\n`,
				}),
			),
		).toMatchObject({ hardware_uuid: made, serial_number: undefined });
	});

	test("a jail is not taken for its host", async () => {
		expect(
			await facts(
				commands({
					"sysctl -n security.jail.jailed": "1\n",
					"sysctl -n kern.hostuuid": `${made}\n`,
				}),
			),
		).toMatchObject({ hardware_uuid: made, serial_number: undefined });
	});

	test("without the kernel's word the file is read", async () => {
		const host = recordedHost({
			platform: "FREEBSD",
			files: { "/etc/hostid": `${made}\n` },
		});
		expect(await findFacts(host)).toEqual({
			hardware_uuid: made,
			serial_number: undefined,
			os_version: "",
		});
	});
});

describe("hostile output", () => {
	test("the recordings it is put into pass and fail in all nine", async () => {
		const statuses = async (recording: Recording) =>
			(await runChecks(FREEBSD_CHECKS, recordedHost(recording))).map(
				({ status }) => status,
			);
		expect(await statuses(GOOD_BSD)).toEqual(Array(9).fill("PASS"));
		expect(await statuses(BAD_BSD)).toEqual(Array(9).fill("FAIL"));
	});

	test.each(
		Object.entries(HOSTILE_TEXTS),
	)("%s: no check passes for it, quotes it or breaks", async (_, text) => {
		const onlyText = await collect(sayingOnly(GOOD_BSD, text));
		for (const { status } of onlyText) expect(status).not.toBe("PASS");
		for (const recording of sayingAlso(BAD_BSD, text)) {
			for (const { status } of await collect(recording)) {
				expect(status).not.toBe("PASS");
			}
		}
		// Enough was done to the patience of the regular expressions.
		if (text.length > 100_000) return;
		for (const recording of sayingAlso(GOOD_BSD, text)) {
			await collect(recording);
		}
	});

	/** The nine results, of which none may have crashed, quote the marker or be large. */
	async function collect(recording: Recording) {
		const crashed: string[] = [];
		const results = await runChecks(FREEBSD_CHECKS, recordedHost(recording), {
			onCrash: (key) => crashed.push(key),
		});
		expect(crashed).toEqual([]);
		const json = JSON.stringify(results.map(({ evidence }) => evidence));
		expect(json).not.toContain(MARKER);
		expect(json.length).toBeLessThan(4096);
		const facts = await findFacts(recordedHost(recording));
		const { serial_number: _, ...named } = facts;
		expect(JSON.stringify(named)).not.toContain(MARKER);
		return results;
	}
});
