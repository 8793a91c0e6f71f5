import { execFile } from "node:child_process";
import { promisify } from "node:util";

export const SERVICE_UNIT = "assay.service";
export const BACKUP_TIMER = "assay-backup.timer";
const UNITS = [SERVICE_UNIT, "assay-backup.service", BACKUP_TIMER];

/** The command `assay` of a package sets it, because only root can read the journal. */
const LAST_LINES = "SERVICE_LOG_LINES";
const MAX_LINE = 300;

/** What systemd says about a unit. */
export interface Unit {
	name: string;
	/** Its last run failed. */
	hasFailed: boolean;
	/** Its last run failed, and systemd is about to start it again. */
	isRestarting: boolean;
	isRunning: boolean;
	isStarting: boolean;
	/** It does not run, and its last run did not fail. */
	isStopped: boolean;
	/** It starts with the machine. */
	isEnabled: boolean;
	/** How the last run ended, such as `exit-code`. */
	result: string;
	exitCode: number;
	restarts: number;
	/** Pause before systemd starts it again, as systemd writes it, such as `2s`. */
	restartPause: string;
}

/** Reads the units of Assay. Returns none where systemd does not run or has none of them. */
export async function readUnits(): Promise<Unit[]> {
	try {
		const { stdout } = await promisify(execFile)(
			"systemctl",
			[
				"show",
				"--property=Id,LoadState,ActiveState,SubState,UnitFileState,Result,ExecMainStatus,NRestarts,RestartUSec",
				...UNITS,
			],
			{ timeout: 5_000 },
		);
		return parseUnits(stdout);
	} catch {
		// This machine has no systemd, or it runs in a container without one.
		return [];
	}
}

/** Parses what `systemctl show` prints: lines NAME=VALUE, and an empty line between two units. */
export function parseUnits(text: string): Unit[] {
	return text
		.trim()
		.split("\n\n")
		.map((block) => {
			const pairs = block.split("\n").map((line): [string, string] => {
				const at = line.indexOf("=");
				return [line.slice(0, at), line.slice(at + 1)];
			});
			return new Map(pairs);
		})
		.filter((of) => of.get("LoadState") === "loaded")
		.map((of) => {
			const active = of.get("ActiveState");
			// Newer versions of systemd also have "auto-restart-queued".
			const isRestarting = /^auto-restart/.test(of.get("SubState") ?? "");
			return {
				name: of.get("Id") ?? "",
				hasFailed: active === "failed" || isRestarting,
				isRestarting,
				isRunning: active === "active" || active === "reloading",
				isStarting: active === "activating" && !isRestarting,
				isStopped: active === "inactive" || active === "deactivating",
				isEnabled: of.get("UnitFileState") === "enabled",
				result: of.get("Result") ?? "",
				exitCode: Number(of.get("ExecMainStatus") ?? 0),
				restarts: Number(of.get("NRestarts") ?? 0),
				restartPause: of.get("RestartUSec") ?? "",
			};
		});
}

/** Says how a unit has failed. */
export function describeUnit({ result, exitCode, restarts }: Unit): string {
	const how =
		result === "exit-code"
			? `its program ended with ${exitCode}`
			: `the result is ${result}`;
	const again =
		restarts > 0
			? `; systemd has started it ${restarts} more ${restarts === 1 ? "time" : "times"}`
			: "";
	return `has failed: ${how}${again}`;
}

/**
 * Returns what the service last wrote to the journal, in words. Undefined if that is not known. The
 * lines of a stack and what Node adds to it say nothing about the cause.
 */
export function lastLogLine(lines = journalLines()): string | undefined {
	return inWords(
		lines
			.split("\n")
			.findLast(
				(text) => /^[^\s}]/.test(text) && !text.startsWith("Node.js v"),
			),
	);
}

/**
 * Returns the line that says why the last run ended, in words. Undefined if there is none, as after
 * `kill -9`.
 */
export function lineOfEnd(lines = journalLines()): string | undefined {
	const all = lines.split("\n");
	const ready = all.findLastIndex((text) => READY.test(text));
	return inWords(all.slice(ready + 1).findLast(explainsEnd));
}

/** Begins what a start prints when it has succeeded. */
const READY = /^Assay \S+ is ready at /;

function explainsEnd(line: string): boolean {
	const level = jsonOf(line)?.level;
	// Node writes plain text about an error that ends it.
	return level === undefined ? /^\S.*error\b/i.test(line) : level === "fatal";
}

const journalLines = () => process.env[LAST_LINES] ?? "";

function inWords(line: string | undefined): string | undefined {
	if (line === undefined) return undefined;
	const { msg, err, reason } = jsonOf(line) ?? {};
	const why = err?.message ?? reason;
	const words = msg === undefined ? line.trim() : why ? `${msg}: ${why}` : msg;
	return words.slice(0, MAX_LINE);
}

interface LogLine {
	level?: string;
	msg?: string;
	reason?: string;
	err?: { message?: string };
}

/** Returns a line of the log. Undefined if it is plain text, such as an error of Node. */
function jsonOf(line: string): LogLine | undefined {
	try {
		return JSON.parse(line);
	} catch {
		return undefined;
	}
}
