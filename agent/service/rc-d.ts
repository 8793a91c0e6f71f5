import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "../files.ts";
import type { Host } from "../host.ts";
import {
	checkSpec,
	runOrThrow,
	type ServiceManager,
	type ServiceSpec,
	succeeded,
	tryRun,
} from "./manager.ts";
import { placeProgram, programFolder, removeProgram } from "./program.ts";

/** The name of the service. It has no hyphen, because it is part of variable names in rc.conf. */
const NAME = "assay_agent";
const PID_FILE = `/var/run/${NAME}.pid`;

export interface RcPlaces {
	scripts: string;
	programs: string;
}

export function rcD(
	host: Host,
	places: RcPlaces = {
		scripts: "/usr/local/etc/rc.d",
		programs: programFolder("freebsd"),
	},
): ServiceManager {
	const script = join(places.scripts, NAME);
	return {
		name: "rc.d",
		async install(spec) {
			checkSpec(spec);
			const placed = await placeProgram(spec, places.programs);
			await writeFile(script, rcScript(placed));
			await chmod(script, 0o555);
			await runOrThrow(host, "sysrc", [`${NAME}_enable=YES`]);
			await tryRun(host, "service", [NAME, "onestop"]);
			await runOrThrow(host, "service", [NAME, "start"]);
			return [];
		},
		async uninstall() {
			const notes: string[] = [];
			if (await exists(script)) {
				await tryRun(host, "service", [NAME, "onestop"]);
				await rm(script, { force: true });
			} else {
				notes.push(`There was no service ${NAME}.`);
			}
			// This command fails if the variable is not set.
			await tryRun(host, "sysrc", ["-x", `${NAME}_enable`]);
			return [...notes, ...(await removeProgram(places.programs))];
		},
		async state() {
			if (!(await exists(script))) return "not_installed";
			const status = await tryRun(host, "service", [NAME, "onestatus"]);
			if (status.ended !== "exited") return "unknown";
			return succeeded(status) ? "running" : "stopped";
		},
	};
}

/**
 * Returns the rc.d script. `daemon` restarts the agent 30 s after it has ended, and sends its
 * output to syslog. The arguments are quoted twice, because rc.subr evaluates them a second time.
 */
export function rcScript(spec: ServiceSpec): string {
	const variables = Object.entries(spec.environment).map(
		([name, value]) => `export ${name}=${quote(value)}\n`,
	);
	const command = [spec.program, ...spec.args].map(quote).join(" ");
	const args = `-P ${PID_FILE} -R 30 -f -T assay-agent -- ${command}`;
	return `#!/bin/sh
# Made by the Assay agent's install command; uninstall removes it.
#
# PROVIDE: ${NAME}
# REQUIRE: LOGIN NETWORKING
# KEYWORD: shutdown

. /etc/rc.subr

name="${NAME}"
desc="Assay device agent"
rcvar="${NAME}_enable"

load_rc_config "$name"
: "\${${NAME}_enable:=NO}"

umask 077
${variables.join("")}pidfile="${PID_FILE}"
procname="/usr/sbin/daemon"
command="/usr/sbin/daemon"
command_args=${quote(args)}

run_rc_command "$1"
`;
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
