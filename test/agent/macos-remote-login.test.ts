import { macTable, ordinaryUser } from "./macos-table.ts";
import { type Case, commands } from "./recorded-table.ts";
import {
	disabledServices,
	loaded,
	notLoaded,
	PROGRAMS,
	programs,
	REMOTE_MANAGEMENT,
	SOCKETS,
	sockets,
} from "./recordings/macos.ts";
import { sshdSays } from "./recordings/sshd.ts";

const allOff = {
	ssh_running: false,
	screen_sharing: false,
	remote_management: false,
};
const sshOn = {
	"launchctl print system/com.openssh.sshd": loaded("com.openssh.sshd"),
	"launchctl print-disabled system": disabledServices([
		'"com.openssh.sshd" => enabled',
	]),
};

macTable("REMOTE_LOGIN", [
	["all off", {}, "PASS", allOff],
	[
		"all off and never touched",
		commands({ "launchctl print-disabled system": disabledServices() }),
		"PASS",
		allOff,
	],
	[
		"SSH on with passwords",
		commands({
			...sshOn,
			"sshd -T": sshdSays({ kbdinteractiveauthentication: "yes" }),
		}),
		"FAIL",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: true,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"SSH on with keys only",
		commands({ ...sshOn, "sshd -T": sshdSays() }),
		"PASS",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: false,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"SSH on, with settings that only root may read",
		{
			...ordinaryUser,
			commands: {
				...sshOn,
				"sshd -T": { exitCode: 1, stderr: "sshd: no hostkeys available" },
				"sshd -G": { exitCode: 1 },
			},
		},
		"UNKNOWN",
		{ reason: "needs_root", ...allOff, ssh_running: true },
	],
	[
		"SSH not loaded yet but enabled, with the words of macOS 12",
		commands({
			"launchctl print-disabled system": disabledServices([
				'"com.openssh.sshd" => false',
			]),
			"sshd -T": sshdSays({ passwordauthentication: "yes" }),
		}),
		"FAIL",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: true,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"Screen Sharing on",
		commands({
			"launchctl print system/com.apple.screensharing": loaded(
				"com.apple.screensharing",
			),
		}),
		"FAIL",
		{ ...allOff, screen_sharing: true },
	],
	[
		"Remote Management on",
		{ files: { [REMOTE_MANAGEMENT]: "enabled\n" } },
		"FAIL",
		{ ...allOff, remote_management: true },
	],
	[
		"Remote Management in a file that may not be read",
		{ files: { [REMOTE_MANAGEMENT]: { kind: "denied" } } },
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			ssh_running: false,
			screen_sharing: false,
		},
	],
	[
		"launchd does not answer",
		commands({
			"launchctl print system/com.openssh.sshd": { ended: "timed_out" },
		}),
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			screen_sharing: false,
			remote_management: false,
		},
	],
	[
		"another error than an unknown service",
		commands({
			"launchctl print system/com.apple.screensharing": {
				...notLoaded("x"),
				stderr: "Operation not permitted\n",
			},
		}),
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			ssh_running: false,
			remote_management: false,
		},
	],
	...(
		[
			["/Library/PrivilegedHelperTools/TeamViewer_Service", "teamviewer"],
			["/Applications/TeamViewer.app/Contents/MacOS/TeamViewer", "teamviewer"],
			["/Applications/AnyDesk.app/Contents/MacOS/AnyDesk", "anydesk"],
			["/Applications/RustDesk.app/Contents/MacOS/RustDesk", "rustdesk"],
			[
				"/Applications/Splashtop Streamer.app/Contents/MacOS/Splashtop Streamer",
				"splashtop",
			],
			[
				"/Library/PrivilegedHelperTools/ChromeRemoteDesktopHost.app/Contents/MacOS/remoting_me2me_host",
				"chrome_remote_desktop",
			],
			[
				"/Applications/NoMachine.app/Contents/Frameworks/bin/nxserver.bin",
				"nomachine",
			],
			["/Library/vnc/vncserver", "vnc"],
			["/Applications/Vine Server.app/Contents/MacOS/OSXvnc-server", "vnc"],
		] as const
	).map(
		([path, name]): Case => [
			`the program ${path}`,
			commands({ [PROGRAMS]: programs(path) }),
			"FAIL",
			{ ...allOff, open_services: [name] },
		],
	),
	...(
		[
			[
				"tcp4       0      0  *.5938                 *.*                    LISTEN",
				"teamviewer",
			],
			[
				"tcp46      0      0  *.5906                 *.*                    LISTEN",
				"vnc",
			],
			[
				"tcp6       0      0  fe80::1c2b%en0.5900    *.*                    LISTEN",
				"vnc",
			],
			[
				"tcp4       0      0  192.168.1.7.21118      *.*                    LISTEN",
				"rustdesk",
			],
		] as const
	).map(
		([line, name]): Case => [
			`the port ${line.split(/ +/)[3]}`,
			commands({ [SOCKETS]: sockets(line) }),
			"FAIL",
			{ ...allOff, open_services: [name] },
		],
	),
	[
		"ports of the Mac's own and of developers' programs, and a viewer that is connected",
		commands({
			[SOCKETS]: sockets(
				"tcp4       0      0  127.0.0.1.5900         *.*                    LISTEN",
				"tcp6       0      0  ::1.5938               *.*                    LISTEN",
				"tcp4       0      0  *.5000                 *.*                    LISTEN",
				"tcp4       0      0  *.4000                 *.*                    LISTEN",
				"tcp4       0      0  192.168.1.7.52001      203.0.113.9.5938       ESTABLISHED",
			),
		}),
		"PASS",
		allOff,
	],
	[
		"a list of programs that is not complete",
		commands({ [PROGRAMS]: "/bin/zsh\n" }),
		"UNKNOWN",
		{ reason: "processes_not_readable", ...allOff },
	],
	[
		"ports that are not listed",
		{ without: [SOCKETS] },
		"UNKNOWN",
		{ reason: "processes_not_readable", ...allOff },
	],
	[
		"SSH with keys only, and AnyDesk",
		commands({
			...sshOn,
			"sshd -T": sshdSays(),
			[PROGRAMS]: programs("/Applications/AnyDesk.app/Contents/MacOS/AnyDesk"),
		}),
		"FAIL",
		{ ...allOff, ssh_running: true, open_services: ["anydesk"] },
	],
]);
