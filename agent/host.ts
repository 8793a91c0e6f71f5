import type { Platform } from "../src/devices/terms.ts";

/** The result of a program. Its output is cut off at `MAX_OUTPUT_BYTES`. */
export interface CommandResult {
	/**
	 * `exited`: it ran to its end, with `exitCode`. `missing`: there is no such program.
	 * `denied`: the agent may not run it. `timed_out`: it ran into its time limit or was killed.
	 */
	ended: "exited" | "missing" | "denied" | "timed_out";
	/** -1 unless `ended` is `exited`. */
	exitCode: number;
	stdout: string;
	stderr: string;
}

/** The content of a file. A file over `MAX_FILE_BYTES` is `unreadable`. */
export type FileResult =
	| { kind: "text"; text: string }
	| { kind: "missing" }
	| { kind: "denied" }
	| { kind: "unreadable" };

/** The numbers of a user of a POSIX system. */
export interface UserIds {
	uid: number;
	gid: number;
}

/** The names in a folder, sorted. */
export type FolderResult =
	| { kind: "names"; names: string[] }
	| { kind: "missing" }
	| { kind: "denied" }
	| { kind: "unreadable" };

/**
 * Everything that a check may know about the device: the output of commands and the content of
 * files. A check is a function of these, so the tests run every platform's checks anywhere, from
 * recordings. Nothing here throws: an error is part of the result.
 */
export interface Host {
	platform: Platform;
	/** True if the agent has the rights of root or of an elevated administrator. */
	isPrivileged: boolean;
	/** The moment of the check. */
	now: Date;
	/**
	 * Runs a program from the system's own folders with a fixed locale, without a shell and standard
	 * input. Kills it after `timeoutMs` (default 5,000).
	 */
	run(
		program: string,
		args?: readonly string[],
		options?: { timeoutMs?: number },
	): Promise<CommandResult>;
	/** Reads a file of the system. Never give it a path that a user owns or names. */
	readFile(path: string): Promise<FileResult>;
	/**
	 * Reads a file that a user owns or names, with the rights of that user and no others. Root must
	 * not open it: the path may lead to a device or a pipe.
	 */
	readFileAs(user: UserIds, path: string): Promise<FileResult>;
	listFolder(path: string): Promise<FolderResult>;
}

export const COMMAND_TIMEOUT_MS = 5_000;
export const MAX_OUTPUT_BYTES = 1024 * 1024;
/** On a busy server the kernel's table of connections has some megabytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
