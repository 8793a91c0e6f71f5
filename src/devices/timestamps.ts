import { z } from "zod";
import { formatRfc3339, parseRfc3339 } from "./rfc3339.ts";

/** An RFC 3339 time with any offset. */
export function timestampSchema() {
	return z
		.string()
		.refine(
			(text) => parseRfc3339(text) !== undefined,
			"must be an RFC 3339 time with offset, such as 2026-03-31T12:00:00Z",
		);
}

/** How far a caller's clock may be ahead of ours. */
const MAX_AHEAD_MICROSECONDS = 60_000_000;

/** An RFC 3339 time that is not in the future. */
export function pastTimestampSchema() {
	return timestampSchema().refine(
		(text) =>
			(parseRfc3339(text) ?? 0) <= Date.now() * 1000 + MAX_AHEAD_MICROSECONDS,
		"must not be in the future",
	);
}

/** Writes a valid time in the form that the database stores and compares. */
export function toTimestamp(time: string): string {
	return formatRfc3339(parseRfc3339(time) ?? 0);
}

/**
 * Returns the last microsecond of the time's millisecond. Times are kept to the microsecond and
 * shown to the millisecond, so a shown time that a caller gives back includes what happened then.
 */
export function endOfMillisecond(time: string): string {
	const microseconds = parseRfc3339(time) ?? 0;
	return formatRfc3339(Math.floor(microseconds / 1000) * 1000 + 999);
}
