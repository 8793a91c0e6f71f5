import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { findListeningPorts } from "./listening.ts";
import { findProcesses, readArguments } from "./processes.ts";
import { runForText } from "./read-text.ts";
import { findServices } from "./services.ts";
import {
	parseEffective,
	readSshdFiles,
	type SshdSettings,
} from "./sshd-config.ts";

/**
 * Doors for passwords in the clear, or to a whole desktop. Not 514: there the log service listens.
 */
const OPEN_DOORS: [port: number, name: string][] = [
	[23, "telnet"],
	[512, "rexec"],
	[513, "rlogin"],
	[3389, "rdp"],
	[5900, "vnc"],
	[5901, "vnc"],
	[5902, "vnc"],
	[5903, "vnc"],
	[5904, "vnc"],
	[5905, "vnc"],
];

const SSH_UNITS = ["ssh.service", "sshd.service", "ssh.socket", "sshd.socket"];

/**
 * Passes when nobody can log in from elsewhere with a password: no remote desktop, telnet or rlogin
 * listens, and SSH is off, listens to this machine alone, or takes keys only and no password of root
 * (CIS benchmarks, "Configure SSH Server"). A password that is accepted only from some, in a
 * Match block, fails as well. What a firewall before it keeps out does not count.
 */
export async function checkRemoteLogin(host: Host): Promise<CheckOutcome> {
	const ports = await findListeningPorts(host);
	const doors = OPEN_DOORS.filter(([port]) => ports?.has(port));
	const services = [...new Set(doors.map(([, name]) => name))];
	if (services.length > 0) return fail({ open_services: services });

	const ssh = await findSsh(host);
	if (ssh === undefined) return unknown("service_manager_not_recognized");
	const outcome =
		ssh === "off"
			? pass({ ssh_running: false })
			: ssh === "dropbear"
				? await judgeDropbear(host)
				: await judgeSshd(host);
	// A failure is certain without the table of ports, a success is not.
	return ports === undefined && outcome.status === "PASS"
		? unknown("unrecognized_output", outcome.evidence)
		: outcome;
}

/** Which SSH server runs or will run at the next start, as far as that can be told. */
async function findSsh(
	host: Host,
): Promise<"off" | "sshd" | "dropbear" | undefined> {
	const services = await findServices(host, [...SSH_UNITS, "dropbear.service"]);
	const isOn = (unit: string) => {
		const state = services?.get(unit);
		return state !== undefined && (state.isActive || state.isEnabled);
	};
	if (SSH_UNITS.some(isOn)) return "sshd";
	if (isOn("dropbear.service")) return "dropbear";
	const processes = await findProcesses(host);
	if (processes?.some(({ name }) => name === "sshd")) return "sshd";
	if (processes?.some(({ name }) => name === "dropbear")) return "dropbear";
	return services || processes ? "off" : undefined;
}

async function judgeSshd(host: Host): Promise<CheckOutcome> {
	const printed = host.isPrivileged
		? await runForText(host, "sshd", ["-T"])
		: undefined;
	const effective = printed === undefined ? undefined : parseEffective(printed);
	const files = await readSshdFiles(host);
	const settings = effective ?? files;
	if (settings === "denied")
		return unknown(host.isPrivileged ? "file_unreadable" : "needs_root");
	if (settings === "unclear") return unknown("unrecognized_output");
	// sshd -T does not show what is in Match blocks.
	const conditional = typeof files === "string" ? [] : files.conditional;
	return judgeSettings({ ...settings, conditional });
}

function judgeSettings(settings: SshdSettings): CheckOutcome {
	// The defaults of OpenSSH, for what the files leave out.
	const value = (keyword: string, usual: string) =>
		(settings.values.get(keyword) ?? usual).toLowerCase();
	const interactive =
		settings.values.get("kbdinteractiveauthentication") ??
		settings.values.get("challengeresponseauthentication") ??
		"yes";
	const methods = value("authenticationmethods", "any");
	// A list that has the key in each of its ways asks for it whatever else is accepted.
	const needsKey =
		methods !== "any" &&
		methods
			.split(/\s+/)
			.every((way) =>
				way
					.split(",")
					.some(
						(m) =>
							m === "publickey" || m === "hostbased" || m.startsWith("gssapi"),
					),
			);
	const isAskedByPam =
		interactive.toLowerCase() !== "no" && value("usepam", "no") !== "no";
	const acceptsPasswords =
		!needsKey &&
		(value("passwordauthentication", "yes") !== "no" || isAskedByPam);
	const someAccept =
		!needsKey &&
		settings.conditional.some(
			([keyword, said]) =>
				(/^(passwordauthentication|permitemptypasswords)$/.test(keyword) ||
					(/^(kbdinteractive|challengeresponse)authentication$/.test(keyword) &&
						value("usepam", "no") !== "no") ||
					keyword === "permitrootlogin") &&
				said.toLowerCase() === "yes",
		);
	const root = value("permitrootlogin", "prohibit-password");
	const emptyPasswords = value("permitemptypasswords", "no") !== "no";
	const isLocal =
		settings.addresses.length > 0 &&
		settings.addresses.every((address) =>
			/^(127\.\d+\.\d+\.\d+|localhost|\[?::1\]?)(:\d+)?$/.test(address),
		);
	const evidence = {
		ssh_running: true,
		password_authentication: acceptsPasswords,
		root_login:
			/^(yes|no|prohibit-password|without-password|forced-commands-only)$/.test(
				root,
			)
				? root
				: "unknown",
		...(emptyPasswords && { empty_passwords: true }),
		...(someAccept && { match_block_accepts: true }),
		...(isLocal && { loopback_only: true }),
	};
	const isOpen =
		acceptsPasswords || someAccept || root === "yes" || emptyPasswords;
	if (evidence.root_login === "unknown") {
		return unknown("unrecognized_output", evidence);
	}
	return isOpen && !isLocal ? fail(evidence) : pass(evidence);
}

/** Dropbear has no file of settings: -s on its command line turns passwords off, -w all logins of root. */
async function judgeDropbear(host: Host): Promise<CheckOutcome> {
	const processes = await findProcesses(host);
	const pid = processes?.find(({ name }) => name === "dropbear")?.pid;
	const words = pid === undefined ? undefined : await readArguments(host, pid);
	if (!words)
		return unknown("command_line_not_readable", { ssh_running: true });
	const acceptsPasswords = !words.includes("-s");
	const evidence = {
		ssh_running: true,
		server: "dropbear",
		password_authentication: acceptsPasswords,
	};
	return acceptsPasswords ? fail(evidence) : pass(evidence);
}
