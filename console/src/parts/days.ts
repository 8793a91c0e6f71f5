import { DAY_MS, HOUR_MS } from "../../../src/units.ts";

/** The time zone by which days begin and end. It is the one of the open organization. */
let clock = clockOf(undefined);

/** Lets days begin and end by a time zone, or by the reader's own one. */
export function setTimeZone(timeZone: string | undefined): void {
	if (timeZone === undefined || timeZone !== clock.resolvedOptions().timeZone) {
		clock = clockOf(timeZone);
	}
}

/** Returns the time zone of the reader's machine. */
export function ownTimeZone(): string {
	return clockOf(undefined).resolvedOptions().timeZone;
}

function clockOf(timeZone: string | undefined): Intl.DateTimeFormat {
	try {
		return new Intl.DateTimeFormat("en-US", {
			timeZone,
			hourCycle: "h23",
			year: "numeric",
			month: "2-digit",
			day: "2-digit",
			hour: "2-digit",
			minute: "2-digit",
			second: "2-digit",
		});
	} catch {
		// The browser is older than the time zone.
		return clockOf(undefined);
	}
}

/** Returns what the clock on the wall of the organization shows, as if it were UTC. */
function wallClock(moment: Date): string {
	const parts = Object.fromEntries(
		clock.formatToParts(moment).map(({ type, value }) => [type, value]),
	);
	const { year = "", month, day, hour, minute, second } = parts;
	return `${year.padStart(4, "0")}-${month}-${day}T${hour}:${minute}:${second}Z`;
}

/**
 * Returns the day of a time in the organization's time zone, as YYYY-MM-DD, the format of date
 * fields.
 */
export function dayOf(moment: Date): string {
	return wallClock(moment).slice(0, 10);
}

/** Returns today's date in the organization's time zone. */
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
	return (Date.parse(until) - Date.parse(from)) / DAY_MS;
}

/** Returns the time at which the day begins in the organization's time zone. */
export function startOfDay(day: string): string {
	const midnight = Date.parse(`${day}T00:00:00Z`);
	const offset = (atMs: number) =>
		Date.parse(wallClock(new Date(atMs))) - Math.floor(atMs / 1000) * 1000;
	// The offset may change between the first guess and the midnight that is meant.
	const guess = midnight - offset(midnight);
	const begins = midnight - offset(guess);
	// Where clocks skip midnight, the day begins an hour later.
	const isEarly = dayOf(new Date(begins)) < day;
	return new Date(begins + (isEarly ? HOUR_MS : 0)).toISOString();
}

/**
 * Returns the beginning and the end of a period in the organization's time zone: today and the
 * `days` before it.
 */
export function lastDays(
	days: number,
	today = todayHere(),
): [from: string, until: string] {
	return [startOfDay(dayAfter(today, -days)), endOfDay(today)];
}

/** Returns the day that a period includes last, or undefined if the period ends within a day. */
export function lastDayOf(end: string): string | undefined {
	const endMs = Date.parse(end);
	const day = dayOf(new Date(endMs - 1));
	// The forms send the last second of the day, and other clients the time when the next one begins.
	return Date.parse(endOfDay(day)) - endMs <= 1000 ? day : undefined;
}

/**
 * Returns the time at which the next day begins in the organization's time zone. A day may have 23
 * or 25 hours.
 */
export function endOfDay(day: string): string {
	return startOfDay(dayAfter(day, 1));
}

/**
 * Returns the last millisecond of a day in the organization's time zone. It is still of that day, so
 * what is valid until that day is valid then.
 */
export function lastMomentOf(day: string): string {
	return new Date(Date.parse(endOfDay(day)) - 1).toISOString();
}

// A calendar date has no time zone. It is formatted in UTC so that it does not become the day
// before.
const DAY = new Intl.DateTimeFormat(undefined, {
	dateStyle: "medium",
	timeZone: "UTC",
});

/**
 * Returns a calendar date in words. Returns a text that is not a date unchanged, because an address
 * may contain any text.
 */
export function formatDay(day: string): string {
	const date = new Date(`${day}T00:00:00Z`);
	return Number.isNaN(date.getTime()) ? day : DAY.format(date);
}

/** Returns a sentence of the service with its calendar dates in words. */
export function daysInWords(text: string): string {
	return text.replace(/\b\d{4}-\d\d-\d\d\b/g, formatDay);
}
