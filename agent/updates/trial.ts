import { type ChildProcess, spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { HOUR_MS } from "../../src/units.ts";
import type { Log } from "../log.ts";

export interface Trial {
	/** The new program, and its arguments. It writes `version` into `passedFile`. */
	program: string;
	args: string[];
	version: string;
	/**
	 * The new program writes its version into this file when the service has accepted a heartbeat. A
	 * report is not needed: on a busy device, the checks take minutes.
	 */
	passedFile: string;
	/**
	 * Sends a heartbeat with the old program. Returns true if the service accepts it, and undefined if
	 * this device is no longer enrolled.
	 */
	askAgain: () => Promise<boolean | undefined>;
	log: Log;
	signal: AbortSignal;
	times?: TrialTimes;
}

export interface TrialTimes {
	/** Milliseconds for which the new program must run without a crash. */
	trialMs: number;
	/**
	 * Milliseconds until the old program asks too. They are shorter than the five minutes after which
	 * the agent asks again about a rejected key, so that a new program cannot lose the key.
	 */
	silentMs: number;
	restartMs: number;
	lookMs: number;
}

const TIMES: TrialTimes = {
	trialMs: 10 * 60_000,
	silentMs: 4 * 60_000,
	restartMs: 10_000,
	lookMs: 1_000,
};
const MAX_CRASHES = 3;
const MAX_SILENT_MS = HOUR_MS;
/** Milliseconds between the request to stop and the kill. */
const GRACE_MS = 5_000;

export type Verdict =
	| { kind: "passed" }
	| { kind: "failed"; reason: string }
	/** The agent was stopped, or is no longer enrolled. */
	| { kind: "ended" };

/**
 * Lets the new program do the work while the old one watches it. The old one takes over again only
 * if the new one crashes three times, or gets no answer while the old one, asked again, does. If
 * neither gets an answer, the network is to blame and the trial goes on.
 */
export async function tryProgram(trial: Trial): Promise<Verdict> {
	const { log, signal, version, times = TIMES } = trial;
	let crashes = 0;
	let silentMs = times.silentMs;
	while (!signal.aborted) {
		await rm(trial.passedFile, { force: true });
		const end = await watch(trial, times, silentMs);
		if (end === "passed") return { kind: "passed" };
		if (end === "stopped") break;
		if (end === "crashed") {
			crashes++;
			log.warn(`version ${version} crashed (${crashes} of ${MAX_CRASHES})`);
			if (crashes === MAX_CRASHES) {
				return { kind: "failed", reason: "it crashed three times" };
			}
			await sleep(times.restartMs, undefined, { signal }).catch(() => {});
		} else {
			log.warn(`version ${version} gets no answer; the old program asks too`);
			const answered = await trial.askAgain();
			if (answered === undefined) break;
			if (answered) {
				const reason = "it got no answer, and the old program did";
				return { kind: "failed", reason };
			}
			silentMs = Math.min(silentMs * 2, MAX_SILENT_MS);
		}
	}
	return { kind: "ended" };
}

/** Starts the new program once, and returns how that ended. No process is left. */
async function watch(
	{ program, args, version, passedFile, signal }: Trial,
	times: TrialTimes,
	silentMs: number,
): Promise<"passed" | "crashed" | "silent" | "stopped"> {
	const child = spawn(program, args, {
		stdio: ["ignore", "inherit", "inherit"],
		windowsHide: true,
	});
	let isOver = false;
	const ended = new Promise<void>((resolve) => {
		const end = () => {
			isOver = true;
			resolve();
		};
		child.once("error", end);
		child.once("exit", end);
	});
	const startedMs = performance.now();
	try {
		for (;;) {
			await sleep(times.lookMs, undefined, { signal }).catch(() => {});
			if (signal.aborted) return "stopped";
			if (isOver) return "crashed";
			const ranMs = performance.now() - startedMs;
			const passed = (
				await readFile(passedFile, "utf8").catch(() => "")
			).trim();
			if (passed === version && ranMs >= times.trialMs) return "passed";
			if (passed !== version && ranMs >= silentMs) return "silent";
		}
	} finally {
		if (!isOver) await stop(child, ended);
	}
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
	child.kill("SIGTERM");
	const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
	await ended;
	clearTimeout(timer);
}
