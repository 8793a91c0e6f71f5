// Parses and formats times for the Device Agent API. docs/decisions/0015 says why this is our own
// code and not Temporal.

/**
 * Returns a version of `compute` that remembers its last result. Most results of a report have the
 * same time.
 */
function rememberLast<Input, Output>(
	compute: (input: Input) => Output,
): (input: Input) => Output {
	let last: { input: Input; output: Output } | undefined;
	return (input) => {
		if (last?.input !== input) last = { input, output: compute(input) };
		return last.output;
	};
}

/** Message for a text that is not such a time. */
export const NOT_RFC3339 =
	"must be an RFC 3339 time with offset, such as 2026-01-31T00:00:00Z";

const RFC3339 =
	/^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The beginning of year 1, the earliest time that both PostgreSQL and RFC 3339 can express. */
const EARLIEST = -62_135_596_800_000_000;

/**
 * Returns the microseconds since 1970 of an RFC 3339 time with an offset, or undefined if the text
 * is malformed. Nanoseconds are cut off. A leap second (:60) counts as the first second of the next
 * minute. The year 0 counts as the beginning of year 1.
 */
export const parseRfc3339 = rememberLast((text: string): number | undefined => {
	const match = RFC3339.exec(text);
	if (!match) return undefined;
	const [year, month, day, hour, minute, second] = match
		.slice(1, 7)
		.map(Number) as [number, number, number, number, number, number];
	const offsetHours = Number(match[9] ?? 0);
	const offsetMinutes = Number(match[10] ?? 0);
	if (hour > 23 || minute > 59 || second > 60) return undefined;
	if (offsetHours > 23 || offsetMinutes > 59) return undefined;
	const date = new Date(0);
	// Date.UTC would read the years 0 to 99 as 1900 to 1999.
	date.setUTCFullYear(year, month - 1, day);
	if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) {
		return undefined;
	}
	const offset =
		(offsetHours * 60 + offsetMinutes) * (match[8] === "-" ? -1 : 1);
	const seconds =
		date.getTime() / 1000 + hour * 3600 + (minute - offset) * 60 + second;
	const fraction = Number((match[7] ?? "").padEnd(6, "0").slice(0, 6));
	return Math.max(seconds * 1_000_000 + fraction, EARLIEST);
});

/**
 * Returns a time, given as microseconds since 1970, as RFC 3339 in UTC with six digits after the
 * point.
 */
export const formatRfc3339 = rememberLast((microseconds: number): string => {
	const millis = Math.floor(microseconds / 1000);
	const rest = String(microseconds - millis * 1000).padStart(3, "0");
	return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`;
});

/**
 * Returns a time, given as seconds since 1970, as RFC 3339 in UTC with whole seconds. `server_time`
 * has this form.
 */
export const formatServerTime = rememberLast(
	(seconds: number): string =>
		`${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`,
);
