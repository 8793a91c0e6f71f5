import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exists } from "../files.ts";
import type { Host } from "../host.ts";
import {
	checkSpec,
	runOrThrow,
	SERVICE_NAME,
	type ServiceManager,
	type ServiceSpec,
	succeeded,
	tryRun,
} from "./manager.ts";
import { placeProgram, programFolder, removeProgram } from "./program.ts";
import { escapeXml } from "./xml.ts";

const TARGET = `system/${SERVICE_NAME}`;
const LOG = `/var/log/${SERVICE_NAME}.log`;

export interface LaunchdPlaces {
	daemons: string;
	/** The folder of the settings of newsyslog, which limited the size of the log in earlier versions. */
	logRotation: string;
	programs: string;
	log: string;
}

export function launchd(
	host: Host,
	places: LaunchdPlaces = {
		daemons: "/Library/LaunchDaemons",
		logRotation: "/etc/newsyslog.d",
		programs: programFolder("darwin"),
		log: LOG,
	},
): ServiceManager {
	const plist = join(places.daemons, `${SERVICE_NAME}.plist`);
	const rotation = join(places.logRotation, `${SERVICE_NAME}.conf`);
	return {
		name: "launchd",
		async install(spec) {
			checkSpec(spec);
			const placed = await placeProgram(spec, places.programs);
			// launchd rejects a file that other users may write.
			const args = [...placed.args, "--log", places.log];
			const text = launchdPlist({ ...placed, args }, places.log);
			await writeFile(plist, text, { mode: 0o644 });
			await rm(rotation, { force: true });
			await unload(host);
			// Somebody may have disabled the service before, and that setting survives a new
			// installation.
			await tryRun(host, "launchctl", ["enable", TARGET]);
			await runOrThrow(host, "launchctl", ["bootstrap", "system", plist]);
			return [];
		},
		async uninstall() {
			const notes = (await exists(plist))
				? []
				: [`There was no service ${SERVICE_NAME}.`];
			await unload(host);
			for (const path of [plist, rotation, places.log, `${places.log}.1`]) {
				await rm(path, { force: true });
			}
			return [...notes, ...(await removeProgram(places.programs))];
		},
		async state() {
			if (!(await exists(plist))) return "not_installed";
			const printed = await tryRun(host, "launchctl", ["print", TARGET]);
			if (printed.ended !== "exited") return "unknown";
			return succeeded(printed) &&
				/^[ \t]*state = running$/m.test(printed.stdout)
				? "running"
				: "stopped";
		},
	};
}

/**
 * Waits until the service has stopped. `bootout` returns before that, and a `bootstrap` in the
 * meantime fails.
 */
async function unload(host: Host): Promise<void> {
	await tryRun(host, "launchctl", ["bootout", TARGET]);
	for (let tries = 0; tries < 20; tries++) {
		const printed = await tryRun(host, "launchctl", ["print", TARGET]);
		if (!succeeded(printed)) return;
		await sleep(500);
	}
}

/**
 * Returns the property list of a daemon that launchd keeps running at a low priority. The agent
 * itself writes its log and limits its size. launchd opens the same file for errors of Node, and
 * only once. In earlier versions newsyslog renamed it, and the agent then wrote into the renamed
 * file.
 */
export function launchdPlist(spec: ServiceSpec, log = LOG): string {
	const string = (text: string) => `<string>${escapeXml(text)}</string>`;
	const args = [spec.program, ...spec.args];
	const variables = Object.entries(spec.environment).map(
		([name, value]) =>
			`\t\t<key>${escapeXml(name)}</key>\n\t\t${string(value)}`,
	);
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	${string(SERVICE_NAME)}
	<key>ProgramArguments</key>
	<array>
${args.map((arg) => `\t\t${string(arg)}`).join("\n")}
	</array>
	<key>EnvironmentVariables</key>
	<dict>
${variables.join("\n")}
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<true/>
	<key>ThrottleInterval</key>
	<integer>30</integer>
	<key>ProcessType</key>
	<string>Background</string>
	<key>LowPriorityIO</key>
	<true/>
	<key>Nice</key>
	<integer>10</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>ExitTimeOut</key>
	<integer>15</integer>
	<key>StandardErrorPath</key>
	${string(log)}
</dict>
</plist>
`;
}
