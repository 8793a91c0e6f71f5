import { AgentError } from "./agent-error.ts";
import { chooseFolder } from "./folder.ts";
import { makeLog } from "./log.ts";
import { makeLogFile } from "./log-file.ts";
import { ownProgram } from "./own-program.ts";
import { isPrivileged, makeSystemHost, thisPlatform } from "./system-host.ts";

/** The options that several commands have. */
export interface Common {
	dir?: string;
	json?: boolean;
}

export function folderOf(options: Common): string {
	return chooseFolder(options.dir, { isPrivileged: isPrivileged() });
}

/** Makes the host, the log and the signal of a command. Without a file, the log is standard error. */
export function makeParts(how: string[], logFile?: string) {
	const platform = thisPlatform();
	if (!platform) {
		throw new AgentError(
			`the agent runs on Linux, macOS, Windows and FreeBSD, not on ${process.platform}`,
		);
	}
	const signal = untilStopped();
	return {
		host: makeSystemHost(platform, ownProgram(how), signal),
		log: makeLog(
			process.env.ASSAY_LOG_LEVEL,
			logFile === undefined ? undefined : makeLogFile(logFile),
		),
		signal,
	};
}

const GRACE_MS = 1500;

/**
 * Returns a signal that aborts when the process is asked to stop. The process then ends soon, even
 * if something still runs.
 */
function untilStopped(): AbortSignal {
	const stop = new AbortController();
	for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(name, () => {
			stop.abort();
			setTimeout(() => process.exit(), GRACE_MS).unref();
		});
	}
	return stop.signal;
}

export function print(options: Common, data: object, text = ""): void {
	process.stdout.write(
		options.json ? `${JSON.stringify(data)}\n` : `${text.trimEnd()}\n`,
	);
}
