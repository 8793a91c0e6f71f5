import { z } from "zod";
import { formatRfc3339, parseRfc3339 } from "./wire.ts";

/** A moment that a caller names, any offset. */
export function momentSchema() {
	return z
		.string()
		.refine(
			(text) => parseRfc3339(text) !== undefined,
			"must be an RFC 3339 time with offset, such as 2026-03-31T12:00:00Z",
		);
}

/** Clocks may differ so much from ours. */
const MAX_AHEAD_MICROSECONDS = 60_000_000;

/** A moment of which something may be known. */
export function pastMomentSchema() {
	return momentSchema().refine(
		(text) =>
			(parseRfc3339(text) ?? 0) <= Date.now() * 1000 + MAX_AHEAD_MICROSECONDS,
		"must not be in the future",
	);
}

/** As the database reads it. */
export function toTimestamp(moment: string): string {
	return formatRfc3339(parseRfc3339(moment) ?? 0);
}

/**
 * The end of the moment's millisecond. Times are kept to the microsecond and shown to the
 * millisecond: so one that was shown, given back, includes what happened then.
 */
export function throughMillisecond(moment: string): string {
	const microseconds = parseRfc3339(moment) ?? 0;
	return formatRfc3339(Math.floor(microseconds / 1000) * 1000 + 999);
}
