import type { Platform } from "../../../../src/devices/terms.ts";
import { COMMAND } from "../../command.ts";
import type { AgentProgram } from "../../parts/devices/agent-packages.ts";
import { downloadCommands, ifChecked } from "./download-commands.ts";
import { type Enrollment, KEY_FILES } from "./enroll-commands.ts";

/**
 * Returns one command that downloads the agent, compares its checksum, installs it as a service and
 * enrolls the device. The token works once. No list of processes shows it, because `echo` is part
 * of the shell and a variable is not an argument.
 */
export function installProgram(
	program: AgentProgram,
	platform: Platform,
	{ serverUrl, token }: Enrollment,
): string {
	const install = `install --server ${serverUrl}`;
	if (platform === "WINDOWS") {
		return ifChecked(program, serverUrl, [
			`$env:ASSAY_ENROLLMENT_TOKEN = '${token}'`,
			`node .\\${program.file} ${install}`,
		]);
	}
	return [
		...downloadCommands(program, platform, serverUrl),
		`echo ${token} | ${SUDO_NODE} ${program.file} ${install}`,
	].join(" &&\n");
}

/** Returns one command that downloads the agent and reports once, without administrator rights. */
export function reportOnce(
	program: AgentProgram,
	platform: Platform,
	{ serverUrl, token }: Enrollment,
): string {
	const install = `install --no-service --server ${serverUrl}`;
	if (platform === "WINDOWS") {
		return ifChecked(program, serverUrl, [
			`$env:ASSAY_ENROLLMENT_TOKEN = '${token}'`,
			`node .\\${program.file} ${install}`,
			`node .\\${program.file} once`,
		]);
	}
	return [
		...downloadCommands(program, platform, serverUrl),
		`echo ${token} | node ${program.file} ${install}`,
		`node ${program.file} once`,
	].join(" &&\n");
}

/**
 * Returns one command that reports once from the computer that runs Assay, with Assay's own program.
 * The command needs no download and no administrator rights.
 */
export function reportFromService(
	platform: Platform,
	{ serverUrl, token }: Enrollment,
): string {
	const install = `${COMMAND} agent install --no-service --server ${serverUrl}`;
	const once = `${COMMAND} agent once`;
	return platform === "WINDOWS"
		? `$env:ASSAY_ENROLLMENT_TOKEN = '${token}'\n${install}\n${once}`
		: `echo ${token} | ${install} &&\n${once}`;
}

/**
 * Returns the commands that install the agent, enroll the device with an enrollment key from a
 * file, and remove that file. They ask nothing, so a management system can run them.
 */
export function installProgramWithKey(
	program: AgentProgram,
	platform: Platform,
	serverUrl: string,
): string {
	const file =
		platform === "WINDOWS"
			? KEY_FILES.WINDOWS
			: platform === "DARWIN"
				? KEY_FILES.DARWIN
				: KEY_FILES.LINUX;
	const install = `${program.file} install --server ${serverUrl} --enrollment-token-file "${file}"`;
	if (platform === "WINDOWS") {
		return ifChecked(program, serverUrl, [
			`node .\\${install}`,
			`Remove-Item "${file}"`,
		]);
	}
	return [
		...downloadCommands(program, platform, serverUrl),
		`node ${install}`,
		`rm "${file}"`,
	].join(" &&\n");
}

/** Finds Node before `sudo` runs, because the PATH of `sudo` may not contain the user's Node. */
const SUDO_NODE = 'sudo "$(command -v node || echo node)"';
