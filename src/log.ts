import { type Logger, pino } from "pino";
import { SECRET_IN_TEXT } from "./tokens/secret.ts";

export const LOG_LEVELS = [
	"trace",
	"debug",
	"info",
	"warn",
	"error",
	"fatal",
	"silent",
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A line with every secret of ours replaced, wherever in the line it stands. */
export function redact(line: string): string {
	return line.replace(SECRET_IN_TEXT, "asy_$1_[redacted]");
}

/**
 * JSON lines on standard error; standard output belongs to results. Bodies and
 * headers are never logged; the redaction of the finished line is the second wall,
 * for a secret that arrives inside a URL or an error message. `fields` adds to every line.
 */
export function makeLogger(level: LogLevel, fields?: () => object): Logger {
	const destination = pino.destination({ dest: 2, sync: true });
	// A line that cannot be written, because the reader is gone or the disk is full, is lost.
	// Without a listener the event would end the process.
	destination.on("error", () => {});
	return pino(
		{
			level,
			base: null,
			timestamp: pino.stdTimeFunctions.isoTime,
			formatters: { level: (label) => ({ level: label }) },
			hooks: { streamWrite: redact },
			...(fields && { mixin: fields }),
		},
		destination,
	);
}
