import { describe, expect, test } from "vitest";
import {
	checkMalwareProtection,
	PROTECTION_UNITS,
} from "../../agent/checks/linux/malware-protection.ts";
import { checkPasswordPolicy } from "../../agent/checks/linux/password-policy.ts";
import {
	checkRemoteLogin,
	REMOTE_UNITS,
} from "../../agent/checks/linux/remote-login.ts";
import type { CommandResult, FileResult } from "../../agent/host.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { linux, processes, type UnitState, units } from "./recordings/linux.ts";
import { sshdSays } from "./recordings/sshd.ts";

type Files = NonNullable<Recording["files"]>;
const DENIED: FileResult = { kind: "denied" };

describe("the password policy", () => {
	const check = (files: Files) =>
		checkPasswordPolicy(recordedHost(linux({ files })));
	const PASSWD =
		"#\n# The PAM configuration file for the Shadow `passwd' service\n#\n\n@include common-password\n";
	const debian = (rules: string, more: Files = {}): Files => ({
		"/etc/pam.d/passwd": PASSWD,
		"/etc/pam.d/common-password": `# here are the per-package modules\n${rules}password\trequisite\t\t\tpam_deny.so\npassword\trequired\t\t\tpam_permit.so\n`,
		...more,
	});
	const UNIX =
		"password\t[success=1 default=ignore]\tpam_unix.so obscure yescrypt\n";
	const AFTER =
		"password\t[success=1 default=ignore]\tpam_unix.so obscure use_authtok try_first_pass yescrypt\n";
	const PWQUALITY = "password\trequisite\t\t\tpam_pwquality.so retry=3\n";
	const CONF = "/etc/security/pwquality.conf";
	const rhel = (line: string, more: Files = {}): Files => ({
		"/etc/pam.d/passwd":
			"#%PAM-1.0\nauth       include      system-auth\npassword   substack     system-auth\n-password   optional    pam_gnome_keyring.so use_authtok\npassword   substack     postlogin\n",
		"/etc/pam.d/postlogin": "session optional pam_umask.so silent\n",
		"/etc/pam.d/system-auth": `auth        required                                     pam_env.so\nauth        required                                     pam_faillock.so preauth silent deny=4\n${line}password    sufficient                                   pam_unix.so yescrypt shadow nullok use_authtok\npassword    required                                     pam_deny.so\n`,
		"/etc/pam.d/login": "auth       substack     system-auth\n",
		...more,
	});
	const RHEL =
		"password    requisite                                    pam_pwquality.so local_users_only\n";

	test.each([
		[
			"Debian as it is installed",
			debian(UNIX),
			"FAIL",
			{ engine: "pam_unix", minimum_length: 6 },
		],
		[
			"pam_unix with a length of its own",
			debian(UNIX.replace("obscure", "obscure minlen=12")),
			"PASS",
			{ minimum_length: 12 },
		],
		[
			"pam_pwquality at its default",
			debian(PWQUALITY + AFTER),
			"PASS",
			{ engine: "pam_pwquality", minimum_length: 8 },
		],
		[
			"a length in its file",
			debian(PWQUALITY + AFTER, {
				[CONF]: "# minlen = 6\nminlen = 14 # characters\ndictcheck = 1\n",
			}),
			"PASS",
			{ minimum_length: 14 },
		],
		[
			"a length below eight in its file",
			debian(PWQUALITY + AFTER, { [CONF]: "minlen = 6\n" }),
			"FAIL",
			{ minimum_length: 6 },
		],
		[
			"an option over the file over the folder",
			debian(PWQUALITY.replace("retry=3", "retry=3 minlen=10") + AFTER, {
				[CONF]: "minlen = 6\n",
				"/etc/security/pwquality.conf.d/50.conf": "minlen=7\n",
			}),
			"PASS",
			{ minimum_length: 10 },
		],
		[
			"credits that make a password count as longer",
			debian(PWQUALITY + AFTER, {
				[CONF]: "minlen = 9\ndcredit = 1\nucredit = 1\nlcredit = -1\n",
			}),
			"FAIL",
			{ minimum_length: 7 },
		],
		[
			"a warning that enforces nothing",
			debian(PWQUALITY + AFTER, { [CONF]: "enforcing = 0\n" }),
			"FAIL",
			{ enforced: false },
		],
		[
			"a module whose failure is ignored",
			debian(PWQUALITY.replace("requisite", "optional") + AFTER),
			"FAIL",
			{ enforced: false },
		],
		[
			"RHEL with a lock after failures",
			rhel(RHEL, { "/etc/login.defs": "PASS_MAX_DAYS\t90\nPASS_MIN_LEN\t5\n" }),
			"PASS",
			{ lockout_attempts: 4, maximum_age_days: 90 },
		],
		["RHEL without its module", rhel(""), "FAIL", { engine: "pam_unix" }],
		[
			"passwdqc",
			rhel(
				"password required pam_passwdqc.so min=disabled,24,12,8,8 retry=3\n",
			),
			"PASS",
			{ engine: "pam_passwdqc", minimum_length: 8 },
		],
		[
			"passwdqc at its default",
			rhel("password required pam_passwdqc.so config=/etc/passwdqc.conf\n", {
				"/etc/passwdqc.conf": "max=72\nenforce=everyone\n",
			}),
			"FAIL",
			{ minimum_length: 7 },
		],
		[
			"cracklib at its default, with credits",
			rhel("password requisite pam_cracklib.so\n"),
			"FAIL",
			{ engine: "pam_cracklib", minimum_length: 6 },
		],
		[
			"cracklib without credits",
			rhel(
				"password requisite pam_cracklib.so minlen=12 dcredit=-1 ucredit=-1 lcredit=-1 ocredit=0\n",
			),
			"PASS",
			{ minimum_length: 12 },
		],
		[
			"files that a distribution keeps below /usr",
			{
				"/usr/lib/pam.d/passwd": "password include common-password\n",
				"/usr/lib/pam.d/common-password": PWQUALITY + AFTER,
			},
			"PASS",
			{},
		],
		["no PAM", {}, "UNKNOWN", { reason: "no_pam" }],
		[
			"a file that is included and not there",
			{ "/etc/pam.d/passwd": PASSWD },
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"a file that includes itself",
			{ "/etc/pam.d/passwd": "@include passwd\n" },
			"UNKNOWN",
			{},
		],
		[
			"a length that is no number",
			debian(PWQUALITY + AFTER, { [CONF]: "minlen = long\n" }),
			"UNKNOWN",
			{},
		],
		[
			"settings that may not be read",
			debian(PWQUALITY + AFTER, {
				[CONF]: DENIED as Exclude<FileResult, { kind: "text" }>,
			}),
			"UNKNOWN",
			{},
		],
	] as const)("%s", async (_, files, status, evidence) => {
		expect(await check(files)).toMatchObject({ status, evidence });
	});
});

describe("remote login", () => {
	const tcp = (...listening: string[]) =>
		[
			"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
			...listening.map(
				(address, index) =>
					`   ${index}: ${address} ${"0".repeat(address.indexOf(":"))}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 27131 1 0000000000000000 100 0 0 10 0`,
			),
			"   9: 0100007F:0016 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 27131 1 0000000000000000 20 4 30 10 -1",
			"",
		].join("\n");
	const check = (
		states: Record<string, UnitState> | undefined,
		commands: Record<string, string | Partial<CommandResult>>,
		files: Files = {},
		isPrivileged = true,
	) =>
		checkRemoteLogin(
			recordedHost(
				linux({
					isPrivileged,
					files: {
						"/proc/net/tcp": tcp("00000000:0016"),
						...processes(),
						...files,
					},
					commands: { ...(states && units(REMOTE_UNITS, states)), ...commands },
				}),
			),
		);
	const ON = { "ssh.service": "running" } as const;
	const SSHD = "sshd -T";

	test.each([
		["no SSH server", {}, {}, "PASS", { ssh: false }],
		[
			"one that is installed and off",
			{ "ssh.service": "stopped" },
			{},
			"PASS",
			{ ssh: false },
		],
		[
			"keys alone",
			ON,
			{ [SSHD]: sshdSays() },
			"PASS",
			{
				ssh: true,
				password_authentication: false,
				root_login: "prohibit-password",
				port: 22,
			},
		],
		[
			"passwords",
			ON,
			{ [SSHD]: sshdSays({ passwordauthentication: "yes" }) },
			"FAIL",
			{ password_authentication: true },
		],
		[
			"passwords that PAM asks for",
			ON,
			{ [SSHD]: sshdSays({ kbdinteractiveauthentication: "yes" }) },
			"FAIL",
			{},
		],
		[
			"root by its own name",
			ON,
			{ [SSHD]: sshdSays({ permitrootlogin: "yes" }) },
			"FAIL",
			{ root_login: "yes" },
		],
		[
			"passwords and a key",
			ON,
			{
				[SSHD]: sshdSays({
					passwordauthentication: "yes",
					authenticationmethods: "publickey,password",
				}),
			},
			"PASS",
			{},
		],
		[
			"a socket that starts it",
			{ "ssh.socket": "running" },
			{ [SSHD]: sshdSays({ passwordauthentication: "yes" }) },
			"FAIL",
			{},
		],
		[
			"one that runs after the next start",
			{ "sshd.service": "enabled" },
			{ [SSHD]: sshdSays({ passwordauthentication: "yes" }) },
			"FAIL",
			{},
		],
		[
			"passwords from this machine alone",
			ON,
			{
				[SSHD]: sshdSays({
					listenaddress: "127.0.0.1:22",
					passwordauthentication: "yes",
				}),
			},
			"PASS",
			{ loopback_only: true },
		],
		[
			"an answer that is not understood",
			ON,
			{ [SSHD]: "S3CRET\n" },
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
	] as const)("%s", async (_, states, commands, status, evidence) => {
		const files = {
			"/etc/ssh/sshd_config": "Include /etc/ssh/sshd_config.d/*.conf\n",
		};
		expect(await check(states, commands, files)).toMatchObject({
			status,
			evidence,
		});
	});

	const MAIN = "/etc/ssh/sshd_config";
	const DEBIAN =
		"# This is the sshd server system-wide configuration file.\nInclude /etc/ssh/sshd_config.d/*.conf\n\n#PasswordAuthentication yes\nKbdInteractiveAuthentication no\nUsePAM yes\nX11Forwarding yes\nAcceptEnv LANG LC_*\nSubsystem\tsftp\t/usr/lib/openssh/sftp-server\n";

	test.each([
		[
			"Debian as it is installed",
			{ [MAIN]: DEBIAN },
			"FAIL",
			{ password_authentication: true, root_login: "prohibit-password" },
		],
		[
			"a file of the folder, which comes first",
			{
				[MAIN]: `${DEBIAN}PasswordAuthentication yes\n`,
				"/etc/ssh/sshd_config.d/10-keys.conf": "PasswordAuthentication no\n",
			},
			"PASS",
			{ password_authentication: false },
		],
		[
			"the first of two files",
			{
				[MAIN]: DEBIAN,
				"/etc/ssh/sshd_config.d/10-a.conf": "passwordauthentication=yes\n",
				"/etc/ssh/sshd_config.d/50-b.conf": "PasswordAuthentication no\n",
			},
			"FAIL",
			{},
		],
		[
			"a file that the pattern leaves out",
			{
				[MAIN]: DEBIAN,
				"/etc/ssh/sshd_config.d/10-keys.conf.bak":
					"PasswordAuthentication no\n",
			},
			"FAIL",
			{},
		],
		[
			"a Match block that lets some in with passwords",
			{
				[MAIN]: `${DEBIAN.replace("#PasswordAuthentication yes", "PasswordAuthentication no")}Match Address 10.0.0.0/8\n  PasswordAuthentication yes\n`,
			},
			"FAIL",
			{
				password_authentication: false,
				password_authentication_for_some: true,
			},
		],
		[
			"a Match block in another file, which ends with it",
			{
				[MAIN]: DEBIAN,
				"/etc/ssh/sshd_config.d/10-a.conf":
					"Match User sftp\n  PasswordAuthentication no\n",
				"/etc/ssh/sshd_config.d/20-b.conf": "PasswordAuthentication no\n",
			},
			"PASS",
			{},
		],
		[
			"quotes and a comment at the end",
			{
				[MAIN]:
					'PasswordAuthentication "no" # keys\nKbdInteractiveAuthentication no\nPermitRootLogin no\n',
			},
			"PASS",
			{ root_login: "no" },
		],
		[
			"the older name of prompts",
			{
				[MAIN]:
					"PasswordAuthentication no\nChallengeResponseAuthentication yes\nUsePAM yes\n",
			},
			"FAIL",
			{},
		],
		[
			"an Include that is not there",
			{ [MAIN]: "Include /etc/crypto/x.config\nPasswordAuthentication no\n" },
			"PASS",
			{},
		],
		[
			"a line without a value",
			{ [MAIN]: "PasswordAuthentication\n" },
			"UNKNOWN",
			{ reason: "command_failed" },
		],
		["no file", {}, "UNKNOWN", { reason: "command_failed" }],
	] as const)("by its files: %s", async (_, files, status, evidence) => {
		expect(
			await check(
				ON,
				{
					[SSHD]: {
						exitCode: 255,
						stderr: "Missing privilege separation directory: /run/sshd",
					},
				},
				files,
			),
		).toMatchObject({ status, evidence });
	});

	test("files that only root may read are not guessed", async () => {
		const files = {
			[MAIN]: DEBIAN,
			"/etc/ssh/sshd_config.d/50-cloud-init.conf": { kind: "denied" },
		} as const;
		expect(await check(ON, {}, files, false)).toMatchObject({
			status: "UNKNOWN",
			evidence: { reason: "needs_root" },
		});
	});

	test.each([
		[
			"a remote desktop",
			{ "/proc/net/tcp": tcp("00000000:0D3D") },
			"FAIL",
			{ open_services: ["rdp"] },
		],
		[
			"VNC over IPv6",
			{ "/proc/net/tcp6": tcp("00000000000000000000000000000000:170C") },
			"FAIL",
			{ open_services: ["vnc"] },
		],
		[
			"telnet beside VNC",
			{
				"/proc/net/tcp": tcp("0102000A:0017", "00000000:170C", "00000000:170D"),
			},
			"FAIL",
			{ open_services: ["telnet", "vnc"] },
		],
		[
			"VNC for this machine alone",
			{
				"/proc/net/tcp": tcp("0100007F:170C"),
				"/proc/net/tcp6": tcp(
					"00000000000000000000000001000000:170C",
					"0000000000000000FFFF00000100007F:170D",
				),
			},
			"PASS",
			{},
		],
		[
			"a machine whose address ends with 127",
			{ "/proc/net/tcp": tcp("7F01A8C0:170C") },
			"FAIL",
			{ open_services: ["vnc"] },
		],
		[
			"a log service on port 514",
			{ "/proc/net/tcp": tcp("00000000:0202") },
			"PASS",
			{},
		],
		[
			"a table that is not understood",
			{ "/proc/net/tcp": "S3CRET" },
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
	] as const)("%s listens", async (_, files, status, evidence) => {
		expect(await check({}, {}, files)).toMatchObject({ status, evidence });
	});

	test("without systemd the processes tell whether a server runs", async () => {
		const keys = {
			[MAIN]: "PasswordAuthentication no\nKbdInteractiveAuthentication no\n",
		};
		const programs = { "/usr/sbin/ip": "", ...processes() };
		expect((await check(undefined, {}, programs)).status).toBe("PASS");
		const installed = { "/usr/sbin/sshd": "", ...processes() };
		expect((await check(undefined, {}, installed)).status).toBe("UNKNOWN");
		expect(
			(await check(undefined, {}, { ...processes({ name: "sshd" }), ...keys }))
				.status,
		).toBe("PASS");
		const dropbear = (...args: string[]) =>
			processes({ name: "dropbear", args: ["/usr/sbin/dropbear", ...args] });
		expect((await check(undefined, {}, dropbear("-s", "-F"))).status).toBe(
			"PASS",
		);
		expect((await check(undefined, {}, dropbear("-F"))).status).toBe("FAIL");
		expect(
			(await check(undefined, {}, { "/proc/1/status": DENIED } as Files))
				.status,
		).toBe("UNKNOWN");
	});

	test("under OpenRC the folders of services tell", async () => {
		const host = (started: string[]) =>
			recordedHost(
				linux({
					files: {
						"/proc/net/tcp": tcp(),
						[MAIN]: "PasswordAuthentication yes\n",
					},
					folders: {
						"/run/openrc/started": started,
						"/etc/runlevels/default": ["crond"],
						"/etc/runlevels/boot": ["syslog"],
					},
				}),
			);
		expect((await checkRemoteLogin(host(["crond"]))).status).toBe("PASS");
		expect((await checkRemoteLogin(host(["crond", "sshd"]))).status).toBe(
			"FAIL",
		);
	});
});

describe("malware protection", () => {
	const check = (
		states: Record<string, UnitState> | undefined,
		files: Files,
		commands: Record<string, string> = {},
		isPrivileged = true,
	) =>
		checkMalwareProtection(
			recordedHost(
				linux({
					isPrivileged,
					files,
					commands: {
						...(states && units(PROTECTION_UNITS, states)),
						...commands,
					},
				}),
			),
		);
	const SELINUX = (mode: string) => ({ "/sys/fs/selinux/enforce": mode });
	const APPARMOR = (profiles: string) => ({
		"/sys/module/apparmor/parameters/enabled": "Y\n",
		"/sys/kernel/security/apparmor/profiles": profiles,
	});
	const OFF = { "/sys/module/apparmor/parameters/enabled": "N\n" };
	const clamd = {
		"clamav-daemon.service": "running",
		"clamav-freshclam.service": "running",
	} as const;
	const clam = (date: string) => ({
		"clamdscan --version": `ClamAV 1.4.2/27500/${date}\n`,
	});
	const mdatp = (healthy: string, realTime: string) => ({
		"mdatp health": `healthy                                     : ${healthy}\nhealth_issues                               : []\nlicensed                                    : true\norg_id                                      : "S3CRET"\nreal_time_protection_enabled                : ${realTime}\n`,
	});

	test.each([
		[
			"SELinux that enforces",
			{},
			SELINUX("1"),
			{},
			"PASS",
			{ access_control: "selinux", scanners: [] },
		],
		[
			"SELinux that only warns",
			{},
			SELINUX("0"),
			{},
			"FAIL",
			{ access_control: "none" },
		],
		[
			"AppArmor with profiles",
			{},
			APPARMOR(
				"/usr/sbin/cupsd (enforce)\nlsb_release (enforce)\nplasmashell (unconfined)\n",
			),
			{},
			"PASS",
			{ access_control: "apparmor" },
		],
		[
			"AppArmor that only complains",
			{},
			APPARMOR("/usr/sbin/cupsd (complain)\n"),
			{},
			"FAIL",
			{ access_control: "none" },
		],
		["AppArmor without profiles", {}, APPARMOR(""), {}, "FAIL", {}],
		[
			"AppArmor with another text",
			{},
			APPARMOR("S3CRET\n"),
			{},
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"ClamAV with signatures of yesterday",
			clamd,
			OFF,
			clam("Fri Nov 20 09:29:00 2026"),
			"PASS",
			{ scanners: ["clamav"], access_control: "none" },
		],
		[
			"ClamAV with signatures of last month",
			clamd,
			OFF,
			clam("Sat Oct 17 09:29:00 2026"),
			"FAIL",
			{ signatures_outdated: true },
		],
		[
			"ClamAV that does not tell",
			clamd,
			OFF,
			{},
			"UNKNOWN",
			{ reason: "scanner_state_not_known" },
		],
		[
			"Defender in good health",
			{ "mdatp.service": "running" },
			OFF,
			mdatp("true", "true"),
			"PASS",
			{ scanners: ["microsoft-defender"] },
		],
		[
			"Defender that only watches",
			{ "mdatp.service": "running" },
			OFF,
			mdatp("true", "false [managed]"),
			"FAIL",
			{ scanner_unhealthy: true },
		],
		[
			"another product",
			{ "falcon-sensor.service": "running" },
			OFF,
			{},
			"PASS",
			{ scanners: ["crowdstrike-falcon"] },
		],
		[
			"a product that is off",
			{ "falcon-sensor.service": "stopped" },
			OFF,
			{},
			"FAIL",
			{ scanners: [] },
		],
		["a kernel with neither", {}, {}, {}, "FAIL", { access_control: "none" }],
		[
			"services that are not known",
			undefined,
			OFF,
			{},
			"UNKNOWN",
			{ reason: "service_manager_not_recognized" },
		],
	] as const)("%s", async (_, states, files, commands, status, evidence) => {
		const outcome = await check(states, files, commands);
		expect(outcome).toMatchObject({ status, evidence });
		expect(JSON.stringify(outcome)).not.toContain("S3CRET");
	});

	test("AppArmor's profiles are for root only: without, it is not known whether any is enforced", async () => {
		const files = {
			...APPARMOR(""),
			"/sys/kernel/security/apparmor/profiles": DENIED,
		} as Files;
		expect(await check({}, files, {}, false)).toMatchObject({
			status: "UNKNOWN",
			evidence: { reason: "needs_root" },
		});
	});
});
