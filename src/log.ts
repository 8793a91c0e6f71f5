import { type Logger, pino, stdSerializers } from "pino";
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

/** Returns the line with every secret of Assay redacted, wherever the secret is in the line. */
export function redact(line: string): string {
	return line.replace(SECRET_IN_TEXT, "asy_$1_[redacted]");
}

/**
 * Returns a text of another server without e-mail addresses, which such servers repeat in their
 * answers. They stay out of the log.
 */
export function withoutAddresses(text: string): string {
	return text
		.split(/\s/)
		.map((word) => (word.includes("@") ? "[address]" : word))
		.join(" ")
		.trim();
}

/**
 * Returns an error for the log. PostgreSQL repeats values of the row in the details of an error, and
 * the input in its context. These are data of an organization, such as an e-mail address. The names
 * of functions in the context stay.
 */
function withoutRows(error: Error): object {
	const { detail, where, raw, ...rest } = stdSerializers.err(error) as Record<
		string,
		unknown
	>;
	if (typeof where !== "string") return rest;
	const functions = where
		.split("\n")
		.filter((line) => line.startsWith("PL/pgSQL function "));
	return { ...rest, where: functions.join("\n") };
}

/**
 * Makes a logger that writes JSON lines to standard error, because standard output is for results.
 * The service never logs bodies or headers. Redacting the finished line is a second protection, for
 * a secret within a URL or an error message. `fields` returns properties that are added to every
 * line.
 */
export function makeLogger(level: LogLevel, fields?: () => object): Logger {
	const destination = pino.destination({ dest: 2, sync: true });
	// A line cannot be written if its reader is gone or the disk is full. That line is lost. Without
	// a listener, this event would end the process.
	destination.on("error", () => {});
	return pino(
		{
			level,
			base: null,
			timestamp: pino.stdTimeFunctions.isoTime,
			formatters: { level: (label) => ({ level: label }) },
			serializers: { err: withoutRows },
			hooks: { streamWrite: redact },
			...(fields && { mixin: fields }),
		},
		destination,
	);
}
