import { spawn } from "node:child_process";
import {
	CHECK_KEYS,
	POSTURE_STATUSES,
	type PostureStatus,
} from "../../src/devices/terms.ts";
import { parseObject } from "../files.ts";
import type { OwnProgram } from "../own-program.ts";
import { CHECK_TIMEOUT_MS, type CheckResult } from "./run-checks.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * Long enough for every check to use its whole time limit, plus the start of a process on a busy
 * device.
 */
const TIMEOUT_MS = (CHECK_KEYS.length + 2) * CHECK_TIMEOUT_MS;

/**
 * Milliseconds between the request to stop and the kill. The process needs it to kill its own
 * children.
 */
const GRACE_MS = 1000;

/**
 * Runs the checks in a separate process, with the command `checks` of this same program. The idle
 * agent then holds neither the code nor the data of the checks in memory, and a check that never
 * returns to the event loop can be killed. The returned promise never rejects. If the process gives
 * no answer, all checks are UNKNOWN.
 */
export function runChecksInChild(
	own: OwnProgram,
	/** The agent's folder, where the child finds the thresholds. */
	folder: string,
	signal: AbortSignal,
	timeoutMs = TIMEOUT_MS,
): Promise<CheckResult[]> {
	return new Promise((resolve) => {
		const child = spawn(
			own.program,
			[...own.args, "checks", "--json", "--results-only", "--dir", folder],
			{ stdio: ["ignore", "pipe", "inherit"], windowsHide: true },
		);
		let reason = "check_crashed";
		let text = "";
		const stop = () => {
			child.kill("SIGTERM");
			setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
		};
		const timer = setTimeout(() => {
			reason = "timed_out";
			stop();
		}, timeoutMs);
		const settle = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", stop);
			resolve(readResults(text) ?? allUnknown(reason));
		};
		signal.addEventListener("abort", stop);
		child.stdout.setEncoding("utf8").on("data", (more: string) => {
			text += more;
			if (text.length > MAX_OUTPUT_BYTES) stop();
		});
		child.on("error", settle);
		child.on("close", settle);
		if (signal.aborted) stop();
	});
}

function readResults(text: string): CheckResult[] | undefined {
	const results = parseObject(text)?.results;
	return Array.isArray(results) && results.every(isResult)
		? results
		: undefined;
}

function isResult(value: unknown): value is CheckResult {
	const { check_key, status, evidence, observed_at } = (value ?? {}) as Record<
		string,
		unknown
	>;
	return (
		typeof check_key === "string" &&
		POSTURE_STATUSES.includes(status as PostureStatus) &&
		typeof evidence === "object" &&
		typeof observed_at === "string"
	);
}

function allUnknown(reason: string): CheckResult[] {
	const observed_at = new Date().toISOString();
	return CHECK_KEYS.map((check_key) => ({
		check_key,
		status: "UNKNOWN",
		evidence: { reason },
		observed_at,
	}));
}
