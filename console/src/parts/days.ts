/**
 * Returns the day of a time in the reader's time zone, as YYYY-MM-DD, the format of date fields.
 */
export function dayOf(moment: Date): string {
	const two = (part: number) => String(part).padStart(2, "0");
	return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}

/** Returns today's date in the reader's time zone. */
export function todayHere(): string {
	return dayOf(new Date());
}

/** Returns the day that is `days` later, or earlier when `days` is negative. */
export function dayAfter(day: string, days: number): string {
	const date = new Date(`${day}T00:00:00Z`);
	date.setUTCDate(date.getUTCDate() + days);
	return date.toISOString().slice(0, 10);
}

/** Returns the number of days from one day to a later one. */
export function daysBetween(from: string, until: string): number {
	return (Date.parse(until) - Date.parse(from)) / 86_400_000;
}

/** Returns the time at which the day begins in the reader's time zone. */
export function startOfDay(day: string): string {
	return new Date(`${day}T00:00:00`).toISOString();
}

/**
 * Returns the beginning and the end of a period in the reader's time zone: today and the `days`
 * before it.
 */
export function lastDays(
	days: number,
	today = todayHere(),
): [from: string, until: string] {
	return [startOfDay(dayAfter(today, -days)), endOfDay(today)];
}

/**
 * Returns the time at which the next day begins in the reader's time zone. A day may have 23 or 25
 * hours.
 */
export function endOfDay(day: string): string {
	const next = new Date(`${day}T00:00:00`);
	next.setDate(next.getDate() + 1);
	return next.toISOString();
}
