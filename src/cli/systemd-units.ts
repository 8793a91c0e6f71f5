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
	/** Its last run failed, or it fails again and again. */
	hasFailed: boolean;
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
}

/** Reads the units of Assay. Returns none where systemd does not run or has none of them. */
export async function readUnits(): Promise<Unit[]> {
	try {
		const { stdout } = await promisify(execFile)(
			"systemctl",
			[
				"show",
				"--property=Id,LoadState,ActiveState,SubState,UnitFileState,Result,ExecMainStatus,NRestarts",
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
			const isRepeated = of.get("SubState") === "auto-restart";
			return {
				name: of.get("Id") ?? "",
				hasFailed: active === "failed" || isRepeated,
				isRunning: active === "active" || active === "reloading",
				isStarting: active === "activating" && !isRepeated,
				isStopped: active === "inactive" || active === "deactivating",
				isEnabled: of.get("UnitFileState") === "enabled",
				result: of.get("Result") ?? "",
				exitCode: Number(of.get("ExecMainStatus") ?? 0),
				restarts: Number(of.get("NRestarts") ?? 0),
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
export function lastLogLine(
	lines: string = process.env[LAST_LINES] ?? "",
): string | undefined {
	const line = lines
		.split("\n")
		.findLast((text) => /^[^\s}]/.test(text) && !text.startsWith("Node.js v"));
	return line && withoutJson(line.trim()).slice(0, MAX_LINE);
}

function withoutJson(line: string): string {
	try {
		const { msg, err, reason } = JSON.parse(line);
		const why = err?.message ?? reason;
		if (typeof msg === "string") return why ? `${msg}: ${why}` : msg;
	} catch {
		// The line is plain text, such as an error of Node.
	}
	return line;
}
