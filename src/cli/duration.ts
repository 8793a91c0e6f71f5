import { InvalidArgumentError } from "commander";
import { DAY_MS, HOUR_MS } from "../units.ts";

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

const UNITS = [
	["day", DAY_MS],
	["hour", HOUR_MS],
	["minute", 60_000],
	["second", 1000],
] as const;

/** Describes a duration in words, by its largest unit, such as "3 days" or "40 ms". */
export function describeDuration(milliseconds: number): string {
	for (const [unit, length] of UNITS) {
		const count = Math.round(milliseconds / length);
		if (milliseconds >= length)
			return `${count} ${unit}${count === 1 ? "" : "s"}`;
	}
	return `${Math.round(milliseconds)} ms`;
}
