import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Step, TellStep } from "../db/migrate.ts";

/** Nothing is said of what is done earlier. */
const FIRST_MS = 5_000;
/** The pauses between two lines double until they are this long. */
const LONGEST_MS = 60_000;

export interface Progress {
	/** Notes what is done from now on. */
	tell: TellStep;
	/** Ends the lines. Resolves when the last one has arrived. */
	done: () => Promise<void>;
}

/** Gets the seconds since the beginning and what is done now. */
type Say = (seconds: number, now: string) => Promise<void> | void;

/**
 * Says what a slow start does and for how long: in the log, and to systemd with `tellSystemd`.
 * Otherwise nothing would show for minutes that a large migration or a recovery of PostgreSQL goes
 * on.
 */
export function reportStart(
	log: Logger,
	tellSystemd: (text: string) => Promise<void> = async () => {},
): Progress {
	return report("loading the program", async (seconds, now) => {
		log.info({ seconds }, `still starting after ${seconds} s: ${now}`);
		await tellSystemd(`Starting for ${seconds} s: ${now}`);
	});
}

/** Says on standard error what keeps a command from its work, as `reportStart` does for the service. */
export function reportOpening(): Progress {
	return report("opening the database", (seconds, now) => {
		process.stderr.write(`still waiting after ${seconds} s: ${now}\n`);
	});
}

function report(first: Step, say: Say): Progress {
	const startedAt = performance.now();
	const ended = new AbortController();
	let step = first;
	const reporting = saySteps();

	async function saySteps(): Promise<void> {
		for (
			let pauseMs = FIRST_MS;
			await hasPassed(pauseMs, ended.signal);
			pauseMs = Math.min(2 * pauseMs, LONGEST_MS)
		) {
			const seconds = Math.round((performance.now() - startedAt) / 1000);
			await say(seconds, typeof step === "function" ? step() : step);
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
