import type {
	CommandResult,
	FileResult,
	FolderResult,
	Host,
} from "../../agent/host.ts";
import type { Platform } from "../../src/devices/terms.ts";
import {
	type Choices,
	DEFAULT_THRESHOLDS,
} from "../../src/devices/thresholds.ts";

export interface Recording {
	platform: Platform;
	/** The agent's notes about updates that wait. Without it, the agent can keep none. */
	pendingSince?: Host["pendingSince"];
	/** True if the agent has the rights of root. This is the default. */
	isPrivileged?: boolean;
	/** The thresholds that the organization chose. The defaults hold for all others. */
	choices?: Partial<Choices>;
	/** The time of the checks in RFC 3339 format. A fixed day by default. */
	now?: string;
	/**
	 * The output of each command, or how the command ended. The key is the whole command line, such
	 * as `ufw status verbose`.
	 */
	commands?: Record<string, string | Partial<CommandResult>>;
	/** The content of each file, or why there is none. The key is the path. */
	files?: Record<string, string | Exclude<FileResult, { kind: "text" }>>;
	/** The names in those folders whose content does not follow from `files`. */
	folders?: Record<string, string[] | Exclude<FolderResult, { kind: "names" }>>;
}

/**
 * Makes a host from a recording of a device. Commands and files that are not in the recording do
 * not exist. A folder contains the files of the recording whose paths are in it.
 */
export function recordedHost(recording: Recording): Host {
	const { commands = {}, files = {}, folders = {} } = recording;
	const isPrivileged = recording.isPrivileged ?? true;
	const readRecorded = (path: string): FileResult => {
		const recorded = files[path];
		if (recorded === undefined) return { kind: "missing" };
		return typeof recorded === "string"
			? { kind: "text", text: recorded }
			: recorded;
	};
	return {
		platform: recording.platform,
		isPrivileged,
		now: new Date(recording.now ?? "2026-11-21T12:00:00Z"),
		threshold: (name) => DEFAULT_THRESHOLDS[name],
		choice: (name) => recording.choices?.[name] ?? DEFAULT_THRESHOLDS[name],
		pendingSince: recording.pendingSince ?? (async () => undefined),
		async run(program, args = []) {
			const recorded = commands[[program, ...args].join(" ")];
			if (recorded === undefined) return ended("missing");
			if (typeof recorded === "string") {
				return { ...ended("exited"), exitCode: 0, stdout: recorded };
			}
			const how = recorded.ended ?? "exited";
			return {
				...ended(how),
				exitCode: how === "exited" ? 0 : -1,
				...recorded,
			};
		},
		async readFile(path) {
			if (isPrivileged && path.startsWith("/home/")) {
				throw new Error(`root reads ${path}, which a user may have made`);
			}
			return readRecorded(path);
		},
		readFileAs: async (_user, path) => readRecorded(path),
		async listFolder(path) {
			const recorded = folders[path];
			if (recorded !== undefined) {
				return Array.isArray(recorded)
					? { kind: "names", names: [...recorded].sort() }
					: recorded;
			}
			const names = new Set<string>();
			const prefix = path.endsWith("/") ? path : `${path}/`;
			for (const file of Object.keys(files)) {
				const name = file.startsWith(prefix)
					? file.slice(prefix.length).split("/")[0]
					: undefined;
				if (name) names.add(name);
			}
			return names.size > 0
				? { kind: "names", names: [...names].sort() }
				: { kind: "missing" };
		},
	};
}

const ended = (how: CommandResult["ended"]): CommandResult => ({
	ended: how,
	exitCode: -1,
	stdout: "",
	stderr: "",
});
