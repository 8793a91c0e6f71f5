import { DAY_MS } from "../units.ts";
import { stretched } from "./timeline.ts";

/**
 * Returns the day that is `days` days from today, as YYYY-MM-DD. A day in the past is the one of a
 * moment as many days ago.
 */
export function day(days: number): string {
	const time = days < 0 ? -stretched(-days) : days;
	return new Date(Date.now() + time * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the day a year after a time, as YYYY-MM-DD. */
export function dayAYearAfter(time: Date): string {
	const later = new Date(time);
	later.setUTCFullYear(later.getUTCFullYear() + 1);
	return later.toISOString().slice(0, 10);
}

/** Returns the name of the month in which that day lies. */
export function month(days: number): string {
	return new Date(`${day(days)}T12:00:00Z`).toLocaleString("en", {
		month: "long",
		timeZone: "UTC",
	});
}
