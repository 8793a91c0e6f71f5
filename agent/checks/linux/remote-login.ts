import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { judgeSshd, LINUX_SSHD } from "../sshd.ts";
import { findListeningPorts } from "./listening.ts";
import { findProcesses, type Process, readArguments } from "./processes.ts";
import { findRemoteControl } from "./remote-desktops.ts";
import { findServices } from "./services.ts";

const SSH_UNITS = ["ssh.service", "sshd.service", "ssh.socket", "sshd.socket"];
export const REMOTE_UNITS = [...SSH_UNITS, "dropbear.service"];

/**
 * Returns PASS if nobody can log in from another machine with only a password. This is the case if
 * no remote desktop, telnet or rlogin listens, no server for remote control runs, and SSH is off or
 * passes `judgeSshd`. The check ignores firewalls, and processes in containers.
 */
export async function checkRemoteLogin(host: Host): Promise<CheckOutcome> {
	const ports = await findListeningPorts(host);
	const processes = await findProcesses(host);
	const services = await findRemoteControl(
		host,
		ports ?? new Set(),
		processes ?? [],
	);
	if (services.length > 0) return fail({ open_services: services });

	const ssh = await findSsh(host, processes);
	if (ssh === undefined) return unknown("service_manager_not_recognized");
	const outcome =
		ssh === "off"
			? pass({ ssh: false })
			: ssh === "dropbear"
				? await judgeDropbear(host, processes)
				: await judgeSshd(host, { ssh: true }, LINUX_SSHD);
	// A FAIL is certain even if the ports or the processes could not be read. A PASS is not.
	if (outcome.status !== "PASS") return outcome;
	if (!ports) return unknown("unrecognized_output", outcome.evidence);
	if (processes) return outcome;
	const reason = host.isPrivileged ? "processes_not_readable" : "needs_root";
	return unknown(reason, outcome.evidence);
}

/**
 * Returns the SSH server that runs now or will run after the next start, or undefined if this is
 * not known.
 */
async function findSsh(
	host: Host,
	processes: readonly Process[] | undefined,
): Promise<"off" | "sshd" | "dropbear" | undefined> {
	const services = await findServices(host, REMOTE_UNITS);
	const isOn = (unit: string) => {
		const state = services?.get(unit);
		return state !== undefined && (state.isActive || state.isEnabled);
	};
	if (SSH_UNITS.some(isOn)) return "sshd";
	if (isOn("dropbear.service")) return "dropbear";
	const runs = (program: string) =>
		processes?.some(
			({ name, isContained }) => name === program && !isContained,
		);
	if (runs("sshd")) return "sshd";
	if (runs("dropbear")) return "dropbear";
	if (services) return "off";
	// Without a service manager to ask, a server that does not run now may still start at any time,
	// unless it is not installed.
	const programs = await host.listFolder("/usr/sbin");
	const isAbsent =
		programs.kind === "names" &&
		!programs.names.some((name) => name === "sshd" || name === "dropbear");
	return processes && isAbsent ? "off" : undefined;
}

/**
 * Judges Dropbear, which has no settings file. On its command line, -s turns off passwords, and -w
 * turns off all logins of root.
 */
async function judgeDropbear(
	host: Host,
	processes: readonly Process[] | undefined,
): Promise<CheckOutcome> {
	const pid = processes?.find(
		({ name, isContained }) => name === "dropbear" && !isContained,
	)?.pid;
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
