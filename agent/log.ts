import { HOUR_MS } from "../src/units.ts";
/**
 * The agent's log: one line for each event on standard error, which the service manager keeps. It
 * never contains a credential or evidence.
 */
export interface Log {
	debug(sentence: string): void;
	info(sentence: string): void;
	warn(sentence: string): void;
	error(sentence: string): void;
}

const LEVELS = ["debug", "info", "warn", "error"] as const;
const MAX_LINE = 500;

/** Matches Assay's credentials. No caller should log one; this is a second line of defense. */
const SECRET = /asy(?:_|%5f)[a-z]{3}(?:_|%5f)[0-9a-z]+/gi;

/**
 * Makes a log that writes lines from the level `least` upwards. An unknown level counts as `info`.
 */
export function makeLog(
	least: string | undefined,
	write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
	const from = Math.max(
		LEVELS.findIndex((level) => level === (least ?? "info")),
		least === "debug" || least === "trace" ? 0 : 1,
	);
	const say = (rank: number) => (sentence: string) => {
		if (rank < from) return;
		const level = LEVELS[rank] ?? "info";
		write(
			`${new Date().toISOString()} ${level.padEnd(5)} ${printable(sentence)}\n`,
		);
	};
	return { debug: say(0), info: say(1), warn: say(2), error: say(3) };
}

/**
 * Makes text from outside safe for one line of a terminal. The result is short and contains no
 * control characters or credentials.
 */
export function printable(text: string): string {
	const line = text
		.slice(0, 4 * MAX_LINE)
		.replace(/\s+/g, " ")
		.replace(/\p{Cc}|\p{Cf}/gu, "\ufffd")
		.replace(SECRET, "[redacted]")
		.trim();
	return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

const REPEAT_MS = HOUR_MS;

/**
 * Makes a log that reports a problem when it begins or changes, and after that at most hourly. If
 * the service is down for a weekend, the log does not fill up with the same line. Two problems that
 * alternate are each reported at most hourly too.
 */
export function makeTroubleLog(log: Log) {
	/** The sentences of the last hour, with their times. */
	const said = new Map<string, number>();
	return {
		say(sentence: string, level: "warn" | "error" = "warn"): void {
			const nowMs = Date.now();
			for (const [old, atMs] of said) {
				if (nowMs - atMs >= REPEAT_MS || nowMs < atMs) said.delete(old);
			}
			if (said.has(sentence)) return;
			said.set(sentence, nowMs);
			log[level](sentence);
		},
		/** Notes that the problem is over. Returns true if there was one. */
		clear(): boolean {
			const was = said.size > 0;
			said.clear();
			return was;
		},
	};
}

export type TroubleLog = ReturnType<typeof makeTroubleLog>;
