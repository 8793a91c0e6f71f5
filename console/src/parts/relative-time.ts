import { DAY_MS } from "../../../src/units.ts";

const RELATIVE = new Intl.RelativeTimeFormat();
// This format says "yesterday". "Last week" may mean another week than that of seven days ago.
const DAYS_AGO = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const UNITS = [
	["year", 365 * 86_400],
	["month", 30 * 86_400],
	["week", 7 * 86_400],
	["day", 86_400],
	["hour", 3_600],
	["minute", 60],
] as const;

/**
 * Returns `date` relative to `nowMs`, in the largest unit that fits. Days are those of the reader's
 * calendar, so that "yesterday" never means the day before.
 */
export function relativeTo(date: Date, nowMs: number): string {
	const seconds = (date.getTime() - nowMs) / 1000;
	for (const [unit, length] of UNITS) {
		if (Math.abs(seconds) >= length) {
			if (unit === "day") {
				return DAYS_AGO.format(
					dayNumber(date) - dayNumber(new Date(nowMs)),
					unit,
				);
			}
			return RELATIVE.format(Math.trunc(seconds / length), unit);
		}
	}
	return Math.abs(seconds) < 5
		? "now"
		: RELATIVE.format(Math.trunc(seconds), "second");
}

/** Returns the number of the day in the reader's time zone. */
function dayNumber(date: Date): number {
	const day = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
	return day / DAY_MS;
}
