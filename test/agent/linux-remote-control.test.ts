import { describe, expect, test } from "vitest";
import {
	checkRemoteLogin,
	REMOTE_UNITS,
} from "../../agent/checks/linux/remote-login.ts";
import { recordedHost } from "./recorded-host.ts";
import { type Files, linux, processes, units } from "./recordings/linux.ts";
import { sshdSays } from "./recordings/sshd.ts";

const HEADER =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const listening = (port: number) =>
	`${HEADER}   0: 00000000:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 27131 1 0 100 0 0 10 0\n`;

const check = (
	files: Files,
	commands: Record<string, string> = units(REMOTE_UNITS, {}),
) =>
	checkRemoteLogin(
		recordedHost(
			linux({
				files: { "/proc/net/tcp": HEADER, ...processes(), ...files },
				commands,
				folders: { "/usr/sbin": ["nologin"] },
			}),
		),
	);

describe("remote control", () => {
	test.each([
		["VNC on display 6", 5906, "vnc"],
		["VNC on display 59", 5959, "vnc"],
		["TeamViewer", 5938, "teamviewer"],
		["RustDesk", 21118, "rustdesk"],
	])("fails because of the port of %s", async (_, port, name) => {
		expect(await check({ "/proc/net/tcp": listening(port) })).toEqual({
			status: "FAIL",
			evidence: { open_services: [name] },
		});
	});

	test.each([
		["xrdp", "xrdp"],
		["x11vnc", "vnc"],
		["Xtigervnc", "vnc"],
		["teamviewerd", "teamviewer"],
		["anydesk", "anydesk"],
		["rustdesk", "rustdesk"],
		["nxserver.bin", "nomachine"],
		["chrome-remote-desktop", "chrome_remote_desktop"],
		["meshagent", "meshcentral"],
		["dwagsvc", "dwservice"],
	])("fails because of the process %s, whatever its port", async (process, name) => {
		const files = {
			"/proc/net/tcp": listening(3390),
			...processes({ name: process }),
		};
		expect(await check(files)).toEqual({
			status: "FAIL",
			evidence: { open_services: [name] },
		});
	});

	test.each([
		[
			"VNC that only takes connections from the device",
			processes({ name: "x11vnc", args: ["x11vnc", "-localhost"] }),
			"PASS",
		],
		[
			"VNC that takes connections from anywhere",
			processes({ name: "Xvnc", args: ["Xvnc", ":1", "-localhost", "no"] }),
			"FAIL",
		],
		[
			"xrdp that only takes connections from the device",
			{
				...processes({ name: "xrdp" }),
				"/etc/xrdp/xrdp.ini": "[Globals]\nport=tcp://127.0.0.1:3389\n",
			},
			"PASS",
		],
		[
			"xrdp with its usual settings",
			{
				...processes({ name: "xrdp" }),
				"/etc/xrdp/xrdp.ini": "[Globals]\nport=3389\n",
			},
			"FAIL",
		],
	] as const)("%s", async (_, files, status) => {
		expect((await check(files)).status).toBe(status);
	});
});

const inContainer = (name: string) => ({
	"/proc/4321/status": `Name:\t${name}\nUid:\t0\t0\t0\t0\nNSpid:\t4321\t17\n`,
});

test("an sshd in a container is not the device's", async () => {
	expect(await check(inContainer("sshd"))).toEqual({
		status: "PASS",
		evidence: { ssh: false },
	});
});

const OF_ADA = "/user.slice/user-1000.slice/user@1000.service";

test.each([
	[
		"a Flatpak",
		`0::${OF_ADA}/app.slice/app-flatpak-com.anydesk.Anydesk-4321.scope\n`,
		"FAIL",
	],
	[
		"an app that Firejail starts, with the control groups of older systems",
		"12:pids:/user.slice/user-1000.slice/session-2.scope\n1:name=systemd:/user.slice/user-1000.slice/session-2.scope\n0::/user.slice/user-1000.slice/session-2.scope\n",
		"FAIL",
	],
	["a container of root", "0::/system.slice/docker-0123abcd.scope\n", "PASS"],
	[
		"a container that a user starts",
		`0::${OF_ADA}/user.slice/libpod-0123abcd.scope/container\n`,
		"PASS",
	],
	["a process without a known control group", "0::/\n", "PASS"],
	["a process whose control group cannot be read", undefined, "PASS"],
])("AnyDesk in %s", async (_, group, status) => {
	const files = {
		...inContainer("anydesk"),
		...(group !== undefined && { "/proc/4321/cgroup": group }),
	};
	const outcome = await check(files);
	expect(outcome.status).toBe(status);
	if (status === "FAIL") {
		expect(outcome.evidence).toEqual({ open_services: ["anydesk"] });
	}
});

test("a VNC server in a container without a control group of its own has only its own desktop", async () => {
	const files = {
		...inContainer("Xvnc"),
		"/proc/4321/cgroup": "0::/user.slice/user-1000.slice/session-2.scope\n",
	};
	expect((await check(files)).status).toBe("PASS");
});

test("processes that cannot be listed do not pass, because a product may run among them", async () => {
	expect(await check({ "/proc/1/status": { kind: "denied" } })).toMatchObject({
		status: "UNKNOWN",
		evidence: { reason: "processes_not_readable" },
	});
});

test("a dropbear in a container is not the one that is judged", async () => {
	const files = {
		...inContainer("dropbear"),
		"/proc/4321/cmdline": "dropbear\0-s\0",
	};
	const running = units(REMOTE_UNITS, { "dropbear.service": "running" });
	expect(await check(files, running)).toMatchObject({
		status: "UNKNOWN",
		evidence: { reason: "command_line_not_readable" },
	});
});

const PROMPTS = {
	...units(REMOTE_UNITS, { "ssh.service": "running" }),
	"sshd -T": sshdSays({ kbdinteractiveauthentication: "yes" }),
};
const SSHD_CONFIG = {
	"/etc/ssh/sshd_config": "KbdInteractiveAuthentication yes\n",
};

test("prompts of PAM with a second factor cannot be judged", async () => {
	const files = {
		...SSHD_CONFIG,
		"/etc/pam.d/sshd":
			"@include common-auth\nauth required pam_google_authenticator.so nullok\n",
		"/etc/pam.d/common-auth": "auth required pam_unix.so\n",
	};
	expect(await check(files, PROMPTS)).toMatchObject({
		status: "UNKNOWN",
		evidence: {
			reason: "second_factor_possible",
			password_authentication: "unknown",
		},
	});
});

test("prompts of PAM for a password alone fail", async () => {
	const files = {
		...SSHD_CONFIG,
		"/etc/pam.d/sshd":
			"auth required pam_unix.so\n# auth required pam_oath.so\n",
	};
	expect(await check(files, PROMPTS)).toMatchObject({
		status: "FAIL",
		evidence: { password_authentication: true },
	});
});
