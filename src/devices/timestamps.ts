import { z } from "zod";
import { formatRfc3339, NOT_RFC3339, parseRfc3339 } from "./rfc3339.ts";

/** Schema of an RFC 3339 time with any offset. */
export function timestampSchema() {
	return z
		.string()
		.refine((text) => parseRfc3339(text) !== undefined, NOT_RFC3339)
		.meta({ format: "date-time" });
}

/** Longest time that a caller's clock may be ahead of ours. */
const MAX_AHEAD_MICROSECONDS = 60_000_000;

/** Schema of an RFC 3339 time that is not in the future. */
export function pastTimestampSchema() {
	return timestampSchema().refine(
		(text) =>
			(parseRfc3339(text) ?? 0) <= Date.now() * 1000 + MAX_AHEAD_MICROSECONDS,
		"must not be in the future",
	);
}

/** Returns a valid time in the form in which the database stores and compares times. */
export function toTimestamp(time: string): string {
	return formatRfc3339(parseRfc3339(time) ?? 0);
}

/**
 * Returns the last microsecond of the time's millisecond. The database stores microseconds, but
 * callers see only milliseconds. When a caller sends back a time that it saw, the result includes
 * everything that happened within that millisecond.
 */
export function endOfMillisecond(time: string): string {
	const microseconds = parseRfc3339(time) ?? 0;
	return formatRfc3339(Math.floor(microseconds / 1000) * 1000 + 999);
}

/** Returns the first microsecond of the time's millisecond. */
export function startOfMillisecond(time: string): string {
	const microseconds = parseRfc3339(time) ?? 0;
	return formatRfc3339(Math.floor(microseconds / 1000) * 1000);
}
