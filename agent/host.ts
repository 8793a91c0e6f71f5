import type { Platform } from "../src/devices/terms.ts";
import type {
	ChoiceName,
	Choices,
	ThresholdName,
} from "../src/devices/thresholds.ts";
import type { PendingUpdates, Waiting } from "./pending-updates.ts";

/** The result of running a program. Its output is cut off at `MAX_OUTPUT_BYTES`. */
export interface CommandResult {
	/**
	 * `exited`: the program ran to its end, with `exitCode`. `missing`: the program does not exist.
	 * `denied`: the agent may not run it. `timed_out`: it reached its time limit or was killed.
	 */
	ended: "exited" | "missing" | "denied" | "timed_out";
	/** The exit code, or -1 if `ended` is not `exited`. */
	exitCode: number;
	stdout: string;
	stderr: string;
}

/** The content of a file. A file larger than `MAX_FILE_BYTES` is `unreadable`. */
export type FileResult =
	| { kind: "text"; text: string }
	| { kind: "missing" }
	| { kind: "denied" }
	| { kind: "unreadable" };

/** The numeric ids of a user on a POSIX system. */
export interface UserIds {
	uid: number;
	gid: number;
}

/** The sorted names in a folder. */
export type FolderResult =
	| { kind: "names"; names: string[] }
	| { kind: "missing" }
	| { kind: "denied" }
	| { kind: "unreadable" };

/**
 * Everything that a check may know about the device: the output of commands and the content of
 * files. A check depends only on these, so the tests can run the checks of every platform anywhere,
 * from recordings. No method throws; an error is part of the result.
 */
export interface Host {
	platform: Platform;
	/** True if the agent has the rights of root or of an elevated administrator. */
	isPrivileged: boolean;
	/** The time of the check. */
	now: Date;
	/**
	 * Runs a program from the system's own folders with a fixed locale, without a shell and without
	 * standard input. Kills the program after `timeoutMs` (5,000 by default).
	 */
	run(
		program: string,
		args?: readonly string[],
		options?: { timeoutMs?: number },
	): Promise<CommandResult>;
	/** Reads a file of the system. Never call it with a path that a user owns or chooses. */
	readFile(path: string): Promise<FileResult>;
	/**
	 * Reads a file that a user owns or chooses, with only that user's rights. Root must not open such
	 * a file, because the path may lead to a device or a pipe.
	 */
	readFileAs(user: UserIds, path: string): Promise<FileResult>;
	listFolder(path: string): Promise<FolderResult>;
	/**
	 * Returns a threshold of the organization's policy. The result then says that this threshold
	 * judged it.
	 */
	threshold(name: ThresholdName): number;
	/** Returns what the organization chose. The result then says so. */
	choice<Name extends ChoiceName>(name: Name): Choices[Name];
	/**
	 * Notes which updates wait, and returns since when the oldest has waited. Returns undefined if
	 * the updates are not known or the agent cannot keep notes.
	 */
	pendingSince(updates: PendingUpdates): Promise<Waiting | undefined>;
}

export const COMMAND_TIMEOUT_MS = 5_000;
export const MAX_OUTPUT_BYTES = 1024 * 1024;
/**
 * The largest file that is read. On a busy server, the kernel's table of connections has several
 * megabytes.
 */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
