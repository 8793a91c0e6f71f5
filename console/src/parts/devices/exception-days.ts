import { dayAfter, formatDay, todayHere } from "../days.ts";

const MAX_DAYS = 365;

/** Returns the last day that a new exception may have. */
export const latestDay = () => dayAfter(todayHere(), MAX_DAYS);

/** Returns what is wrong with the last day of a new exception, or null. */
export function problemOfLastDay(day: string): string | null {
	if (day < todayHere()) return "Choose a day in the future.";
	return day > latestDay()
		? `Choose a day up to ${formatDay(latestDay())}.`
		: null;
}
