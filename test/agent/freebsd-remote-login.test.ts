import { bsdTable } from "./freebsd-table.ts";
import { commands, file } from "./recorded-table.ts";
import { NAMES, running } from "./recordings/freebsd.ts";
import { sshdSays } from "./recordings/sshd.ts";

const ssh = {
	ssh_running: true,
	port: 22,
	root_login: "no",
	loopback_only: false,
};

bsdTable("REMOTE_LOGIN", [
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
		"SSH with FreeBSD's defaults",
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
		"SSH that lets root in with a key",
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
		"RustDesk and MeshCentral",
		commands({ [NAMES]: running("rustdesk", "meshagent") }),
		"FAIL",
		{ open_services: ["meshcentral", "rustdesk"] },
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
		"SSH behind inetd",
		{
			...commands({ [NAMES]: running("inetd") }),
			...file(
				"/etc/inetd.conf",
				"ssh\tstream\ttcp\tnowait\troot\t/usr/sbin/sshd\tsshd -i\n",
			),
		},
		"UNKNOWN",
		{ reason: "ssh_behind_inetd" },
	],
	[
		"inetd with settings that cannot be read",
		commands({ [NAMES]: running("inetd") }),
		"UNKNOWN",
		{ reason: "inetd_settings_not_readable" },
	],
	[
		"processes that are not visible",
		{ without: [NAMES] },
		"UNKNOWN",
		{ reason: "processes_not_readable" },
	],
]);
