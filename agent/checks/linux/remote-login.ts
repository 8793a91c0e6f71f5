import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { judgeSshd, LINUX_SSHD } from "../sshd.ts";
import { findListeningPorts } from "./listening.ts";
import { findProcesses, readArguments } from "./processes.ts";
import { findServices } from "./services.ts";

/**
 * Ports for passwords in clear text or for a whole desktop. Port 514 is missing, because the log
 * service listens there.
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
export const REMOTE_UNITS = [...SSH_UNITS, "dropbear.service"];

/**
 * PASS if nobody can log in from elsewhere with a password: no remote desktop, telnet or rlogin
 * listens, and SSH is off or passes `judgeSshd`. The check ignores firewalls.
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
			? pass({ ssh: false })
			: ssh === "dropbear"
				? await judgeDropbear(host)
				: await judgeSshd(host, { ssh: true }, LINUX_SSHD);
	// Without the table of ports, a FAIL is certain but a PASS is not.
	return ports === undefined && outcome.status === "PASS"
		? unknown("unrecognized_output", outcome.evidence)
		: outcome;
}

/** Returns the SSH server that runs or will run at the next start, as far as that is known. */
async function findSsh(
	host: Host,
): Promise<"off" | "sshd" | "dropbear" | undefined> {
	const services = await findServices(host, REMOTE_UNITS);
	const isOn = (unit: string) => {
		const state = services?.get(unit);
		return state !== undefined && (state.isActive || state.isEnabled);
	};
	if (SSH_UNITS.some(isOn)) return "sshd";
	if (isOn("dropbear.service")) return "dropbear";
	const processes = await findProcesses(host);
	if (processes?.some(({ name }) => name === "sshd")) return "sshd";
	if (processes?.some(({ name }) => name === "dropbear")) return "dropbear";
	if (services) return "off";
	// A server that does not run now may start at any time, unless it is not installed.
	const programs = await host.listFolder("/usr/sbin");
	const isAbsent =
		programs.kind === "names" &&
		!programs.names.some((name) => name === "sshd" || name === "dropbear");
	return processes && isAbsent ? "off" : undefined;
}

/**
 * Dropbear has no file of settings: -s on its command line turns passwords off, -w all logins of
 * root.
 */
async function judgeDropbear(host: Host): Promise<CheckOutcome> {
	const processes = await findProcesses(host);
	const pid = processes?.find(({ name }) => name === "dropbear")?.pid;
	const words = pid === undefined ? undefined : await readArguments(host, pid);
	if (!words) return unknown("command_line_not_readable", { ssh: true });
	const acceptsPasswords = !words.includes("-s");
	const evidence = {
		ssh: true,
		server: "dropbear",
		password_authentication: acceptsPasswords,
	};
	return acceptsPasswords ? fail(evidence) : pass(evidence);
}
