/**
 * What the agent says while it runs: one line a thing on standard error, which the service
 * manager keeps. Never a credential, never evidence.
 */
export interface Log {
	debug(sentence: string): void;
	info(sentence: string): void;
	warn(sentence: string): void;
	error(sentence: string): void;
}

const LEVELS = ["debug", "info", "warn", "error"] as const;
const MAX_LINE = 500;

/** The secrets of Assay, for the second wall: nothing here is meant to be given one. */
const SECRET = /asy(?:_|%5f)[a-z]{3}(?:_|%5f)[0-9a-z]+/gi;

/** Writes lines from `least` upwards; a level that is unknown counts as info. */
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

/** Text from outside on one line of a terminal: bounded, nothing that moves a cursor, no secret. */
export function printable(text: string): string {
	const line = text
		.slice(0, 4 * MAX_LINE)
		.replace(/\s+/g, " ")
		.replace(/\p{Cc}|\p{Cf}/gu, "\ufffd")
		.replace(SECRET, "[redacted]")
		.trim();
	return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

const REPEAT_MS = 60 * 60 * 1000;

/**
 * Says what is wrong when it begins or changes, then at most hourly while it lasts: a server
 * that is away for a weekend is not a thousand lines.
 */
export function makeTroubleLog(log: Log) {
	let last: { sentence: string; atMs: number } | undefined;
	return {
		say(sentence: string, level: "warn" | "error" = "warn"): void {
			const atMs = Date.now();
			const isNews =
				last?.sentence !== sentence ||
				atMs - last.atMs >= REPEAT_MS ||
				atMs < last.atMs;
			if (!isNews) return;
			last = { sentence, atMs };
			log[level](sentence);
		},
		/** True if there was trouble, which is over now. */
		clear(): boolean {
			const was = last !== undefined;
			last = undefined;
			return was;
		},
	};
}

export type TroubleLog = ReturnType<typeof makeTroubleLog>;
