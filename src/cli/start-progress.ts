import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Step, TellStep } from "../db/migrate.ts";

/** A start that is done earlier says nothing. */
const FIRST_MS = 5_000;
/** The pauses between two lines double until they are this long. */
const LONGEST_MS = 60_000;

export interface StartProgress {
	/** Notes what the start does from now on. */
	tell: TellStep;
	/** Ends the lines. Resolves when systemd has received the last one. */
	done: () => Promise<void>;
}

/**
 * Says what a slow start does and for how long: in the log, and to systemd with `tellSystemd`.
 * Otherwise nothing would show for minutes that a large migration or a recovery of PostgreSQL goes
 * on.
 */
export function reportStart(
	log: Logger,
	tellSystemd: (text: string) => Promise<void> = async () => {},
	firstMs: number = FIRST_MS,
): StartProgress {
	const startedAt = performance.now();
	const ended = new AbortController();
	let step: Step = "loading the program";
	const reporting = report();

	async function report(): Promise<void> {
		for (
			let pauseMs = firstMs;
			await hasPassed(pauseMs, ended.signal);
			pauseMs = Math.min(2 * pauseMs, LONGEST_MS)
		) {
			const seconds = Math.round((performance.now() - startedAt) / 1000);
			const now = typeof step === "function" ? step() : step;
			log.info({ seconds }, `still starting after ${seconds} s: ${now}`);
			await tellSystemd(`Starting for ${seconds} s: ${now}`);
		}
	}

	return {
		tell: (next) => {
			step = next;
		},
		done: async () => {
			ended.abort();
			await reporting;
		},
	};
}

/** Waits. Returns false if the signal ends the wait. The wait does not keep the process alive. */
async function hasPassed(ms: number, signal: AbortSignal): Promise<boolean> {
	return sleep(ms, true, { signal, ref: false }).catch(() => false);
}
