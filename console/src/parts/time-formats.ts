/** The date and the time in full, for tooltips. */
export const FULL = new Intl.DateTimeFormat(undefined, {
	dateStyle: "full",
	timeStyle: "long",
});
const SHORT = new Intl.DateTimeFormat(undefined, {
	dateStyle: "medium",
	timeStyle: "short",
});
const PRECISE = new Intl.DateTimeFormat(undefined, {
	dateStyle: "medium",
	timeStyle: "medium",
});
// This format shows the time zone, for times that may have to be proved.
const ZONED = new Intl.DateTimeFormat(undefined, {
	dateStyle: "medium",
	timeStyle: "long",
});
/** How a time is written, by its precision. */
export const FORMATS = { minutes: SHORT, seconds: PRECISE, zone: ZONED };

/**
 * Returns a time in words, in the reader's time zone, with the given precision. Returns a text that
 * is not a time unchanged.
 */
export function formatTime(
	time: string,
	to: keyof typeof FORMATS = "minutes",
): string {
	const date = new Date(time);
	return Number.isNaN(date.getTime()) ? time : FORMATS[to].format(date);
}
