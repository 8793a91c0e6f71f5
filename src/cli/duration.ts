import { InvalidArgumentError } from "commander";

const SECONDS = { m: 60, h: 3600, d: 86_400 } as const;
const MAX_DAYS = 30;

/** Parses a duration such as 90m, 12h or 2d. Returns the number of seconds. */
export function parseDuration(text: string): number {
	const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
	const seconds = Number(count) * (SECONDS[unit as keyof typeof SECONDS] ?? 0);
	if (!(seconds > 0) || seconds > MAX_DAYS * SECONDS.d) {
		throw new InvalidArgumentError(
			`Give a duration of at most ${MAX_DAYS} days, such as 90m, 12h or 2d.`,
		);
	}
	return seconds;
}
