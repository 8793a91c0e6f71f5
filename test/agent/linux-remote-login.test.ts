import { describe, expect, test } from "vitest";
import {
	checkRemoteLogin,
	REMOTE_UNITS,
} from "../../agent/checks/linux/remote-login.ts";
import type { CommandResult } from "../../agent/host.ts";
import { recordedHost } from "./recorded-host.ts";
import {
	DENIED,
	type Files,
	linux,
	processes,
	type UnitState,
	units,
} from "./recordings/linux.ts";
import { sshdSays } from "./recordings/sshd.ts";

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
			"a server that is installed but off",
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
			"a server that lets root in",
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
			"a socket that starts the server",
			{ "ssh.socket": "running" },
			{ [SSHD]: sshdSays({ passwordauthentication: "yes" }) },
			"FAIL",
			{},
		],
		[
			"a server that runs after the next start",
			{ "sshd.service": "enabled" },
			{ [SSHD]: sshdSays({ passwordauthentication: "yes" }) },
			"FAIL",
			{},
		],
		[
			"passwords only from this machine",
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
			"Debian with its defaults",
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
	] as const)("judged by its files: %s", async (_, files, status, evidence) => {
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

	test("without root, settings in files that only root may read are UNKNOWN", async () => {
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
			"VNC only for this machine",
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

	test("without systemd the processes show whether a server runs", async () => {
		const keys = {
			[MAIN]: "PasswordAuthentication no\nKbdInteractiveAuthentication no\n",
		};
		const programs = { "/usr/sbin/ip": "", ...processes() };
		expect((await check(undefined, {}, programs)).status).toBe("PASS");
		const installed = { "/usr/sbin/sshd": "", ...processes() };
		expect(await check(undefined, {}, installed)).toEqual({
			status: "UNKNOWN",
			evidence: { reason: "service_manager_not_recognized" },
		});
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

	test("with OpenRC the folders of services show whether a server runs", async () => {
		const host = (started: string[]) =>
			recordedHost(
				linux({
					files: {
						"/proc/net/tcp": tcp(),
						...processes(),
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
