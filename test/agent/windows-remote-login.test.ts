import { describe, expect, test } from "vitest";
import {
	REMOTE_LOGIN_SCRIPT,
	remoteLogin,
} from "../../agent/checks/windows/remote-login.ts";
import { WINDOWS_SSHD_CONFIG } from "./recordings/sshd.ts";
import { cases } from "./windows-cases.ts";
import { CIM_DENIED, values, windowsHost } from "./windows-recording.ts";

const running = (...names: string[]) =>
	values(
		...["TermService", "WinRM", "sshd"].map((name) => ({
			name,
			running: names.includes(name),
		})),
	);
const remote = (fields: object) => ({
	installation: "Client",
	deny: 1,
	policyDeny: null,
	nla: 1,
	policyNla: null,
	port: 3389,
	smartCard: null,
	basic: null,
	policyBasic: null,
	plain: null,
	policyPlain: null,
	services: running("TermService"),
	listeners: values(),
	processes: values(),
	ports: values({ port: 135 }, { port: 3389 }, { port: 4000 }, { port: 5985 }),
	...fields,
});

describe("REMOTE_LOGIN on Windows", () => {
	cases(remoteLogin, REMOTE_LOGIN_SCRIPT, [
		[
			"a device that lets nobody in passes",
			remote({}),
			"PASS",
			{ remote_desktop: false, powershell_remoting: false, ssh_server: false },
		],
		[
			"Remote Desktop on a device that people sit at fails",
			remote({ deny: 0 }),
			"FAIL",
			{
				remote_desktop: true,
				network_level_authentication: true,
				remote_desktop_port: 3389,
			},
		],
		[
			"Remote Desktop that asks for a smart card passes",
			remote({ deny: 0, smartCard: 1 }),
			"PASS",
			{ smart_card_required: true },
		],
		[
			"Remote Desktop with network-level authentication on a client of a domain passes",
			remote({ deny: 0, domain: values({ PartOfDomain: true }) }),
			"PASS",
			{ managed: true, network_level_authentication: true },
		],
		[
			"Remote Desktop without it on a client of a domain fails",
			remote({ deny: 0, nla: 0, domain: values({ PartOfDomain: true }) }),
			"FAIL",
			{ managed: true },
		],
		[
			"WinRM over HTTPS on a client that belongs to Entra ID passes",
			remote({
				services: running("TermService", "WinRM"),
				listeners: values({ https: true }),
				joined: values({ joined: true }),
			}),
			"PASS",
			{ powershell_remoting: true, managed: true },
		],
		[
			"WinRM over HTTP on a client of a domain fails",
			remote({
				services: running("TermService", "WinRM"),
				listeners: values({ https: true }, { https: false }),
				domain: values({ PartOfDomain: true }),
			}),
			"FAIL",
			{ powershell_remoting: true },
		],
		[
			"a service of TeamViewer that runs fails",
			remote({
				services: values(
					{ name: "TermService", running: true },
					{ name: "TeamViewer", running: true },
					{ name: "AnyDesk", running: false },
				),
			}),
			"FAIL",
			{ open_services: ["teamviewer"] },
		],
		[
			"an AnyDesk that runs without a service fails",
			remote({ processes: values({ name: "AnyDesk" }) }),
			"FAIL",
			{ open_services: ["anydesk"] },
		],
		[
			"ScreenConnect without a known service, and the host of Chrome Remote Desktop, fail",
			remote({
				services: values(
					{ name: "TermService", running: true },
					{ name: "chromoting", running: true },
					{ name: "LogMeIn", running: false },
				),
				processes: values({ name: "ScreenConnect.ClientService" }),
			}),
			"FAIL",
			{ open_services: ["chrome_remote_desktop", "screenconnect"] },
		],
		[
			"ports of VNC and RustDesk that listen fail",
			remote({ ports: values({ port: 5901 }, { port: 21118 }) }),
			"FAIL",
			{ open_services: ["rustdesk", "vnc"] },
		],
		[
			"ports that cannot be listed are UNKNOWN",
			remote({ ports: CIM_DENIED }),
			"UNKNOWN",
			{ reason: "access_denied" },
		],
		[
			"a server with network-level authentication passes",
			remote({
				installation: "Server",
				deny: 0,
				services: running("TermService", "WinRM"),
				listeners: values({ listener: true }),
			}),
			"PASS",
			{ remote_desktop: true, powershell_remoting: true },
		],
		[
			"a server without it fails",
			remote({ installation: "Server", deny: 0, nla: 0 }),
			"FAIL",
			{ network_level_authentication: false },
		],
		[
			"a policy that allows Remote Desktop takes precedence over the setting",
			remote({ policyDeny: 0 }),
			"FAIL",
			{ remote_desktop: true },
		],
		[
			"PowerShell remoting on a device that people sit at fails",
			remote({
				services: running("WinRM"),
				listeners: values({ listener: true }),
			}),
			"FAIL",
			{ powershell_remoting: true },
		],
		[
			"a server that accepts unencrypted passwords fails",
			remote({
				installation: "Server",
				services: running("WinRM"),
				listeners: values({ listener: true }),
				basic: 1,
				plain: 1,
			}),
			"FAIL",
			{ basic_authentication: true, unencrypted_allowed: true },
		],
		[
			"a WinRM service without a listener passes",
			remote({ services: running("WinRM") }),
			"PASS",
			{ powershell_remoting: false },
		],
		[
			"settings that cannot be read are UNKNOWN",
			remote({ deny: null }),
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"a running SSH server that does not answer is UNKNOWN",
			remote({ services: running("sshd") }),
			"UNKNOWN",
			{ reason: "command_missing", ssh_server: true },
		],
	]);

	const sshd = (password: string) => ({
		"sshd -T":
			`port 22\npermitrootlogin prohibit-password\npasswordauthentication ${password}\n` +
			"kbdinteractiveauthentication yes\nlistenaddress 0.0.0.0:22\nauthenticationmethods any\n",
	});

	test.each([
		["yes", "FAIL"],
		["no", "PASS"],
	])("an SSH server with passwords set to %s: %s", async (password, status) => {
		const host = windowsHost(
			REMOTE_LOGIN_SCRIPT,
			remote({ services: running("sshd") }),
			{
				commands: sshd(password),
				files: { "C:/ProgramData/ssh/sshd_config": WINDOWS_SSHD_CONFIG },
			},
		);
		expect(await remoteLogin(host)).toMatchObject({
			status,
			evidence: { port: 22, password_authentication: status === "FAIL" },
		});
	});
});
