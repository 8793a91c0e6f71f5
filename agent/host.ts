import type { Platform } from "../src/devices/terms.ts";

/** What a program said. Its output is cut off at `MAX_OUTPUT_BYTES`. */
export interface CommandResult {
	/**
	 * `exited`: it ran to its end, with `exitCode`. `missing`: there is no such program.
	 * `denied`: it may not be run. `timed_out`: it was stopped after its time limit, or was killed.
	 */
	ended: "exited" | "missing" | "denied" | "timed_out";
	/** -1 unless `ended` is `exited`. */
	exitCode: number;
	stdout: string;
	stderr: string;
}

/** What a file holds; a file over `MAX_FILE_BYTES` is `unreadable`. */
export type FileResult =
	| { kind: "text"; text: string }
	| { kind: "missing" }
	| { kind: "denied" }
	| { kind: "unreadable" };

/** What a folder holds: names, sorted. */
export type FolderResult =
	| { kind: "names"; names: string[] }
	| { kind: "missing" }
	| { kind: "denied" }
	| { kind: "unreadable" };

/**
 * All that a check may know of the device: the output of commands and the content of files. So
 * a check is a function of these, and every platform's checks are tested anywhere from what was
 * recorded on it. Nothing here throws: what went wrong is part of the answer.
 */
export interface Host {
	platform: Platform;
	/** Whether the agent has the rights of root or of an elevated administrator. */
	isPrivileged: boolean;
	/** The moment of the check. */
	now: Date;
	/**
	 * Runs a program of the system's own folders with a fixed locale, no shell and no standard
	 * input; it is killed after `timeoutMs` (5,000 unless told).
	 */
	run(
		program: string,
		args?: readonly string[],
		options?: { timeoutMs?: number },
	): Promise<CommandResult>;
	readFile(path: string): Promise<FileResult>;
	listFolder(path: string): Promise<FolderResult>;
}

export const COMMAND_TIMEOUT_MS = 5_000;
export const MAX_OUTPUT_BYTES = 1024 * 1024;
/** The kernel's table of a busy server's connections has some megabytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
