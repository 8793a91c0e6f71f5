import { type Logger, pino } from "pino";

export type LogLine = Record<string, unknown>;

/** Returns the line about a sign-in that was refused at an identity provider. */
export const refusedSignIn = (
	reason: string,
	more: { provider?: string | undefined; why?: string } = {},
): LogLine => ({
	level: 40,
	event: "sign_in_failed",
	way: "PROVIDER",
	reason,
	...more,
	address: "127.0.0.1",
});

/** A log of the service that a test reads. */
export class ReadableLog {
	/** The lines since the last call of `take`. */
	lines: LogLine[] = [];
	readonly logger: Logger = pino(
		{ base: null, level: "debug" },
		{ write: (line) => this.lines.push(JSON.parse(line)) },
	);

	/**
	 * Returns the lines of these events since the last call, without their times and messages, and
	 * forgets all lines.
	 */
	take(...events: string[]): LogLine[] {
		const lines = this.lines;
		this.lines = [];
		return lines
			.filter(({ event }) => events.includes(String(event)))
			.map(({ time: _, msg: __, ...fields }) => fields);
	}
}
