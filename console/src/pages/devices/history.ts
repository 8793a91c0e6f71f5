import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/units.ts";
import { call, type OutputOf } from "../../api.ts";
import { lastMomentOf } from "../../parts/days.ts";

export type Span = OutputOf<"listDevicePostures">["device_postures"][number];
/**
 * A time without any report, longer than the organization permits. `until` is null if it goes on.
 */
export type Silence = OutputOf<"listDevicePostures">["silences"][number];

const MINUTE_MS = 60_000;
/**
 * The largest number of pages that are read. If a device has more changes, only the latest ones are
 * shown.
 */
const MAX_PAGES = 10;

export const RANGES = {
	"7d": { label: "7 days", ms: 7 * DAY_MS },
	"30d": { label: "30 days", ms: 30 * DAY_MS },
	"90d": { label: "90 days", ms: 90 * DAY_MS },
	"365d": { label: "1 year", ms: 365 * DAY_MS },
} as const;

export type Range = keyof typeof RANGES;

/** Returns true if the period contains the whole day that ends at the time, if there is one. */
export const isInRange = (range: Range, atMs: number | undefined): boolean =>
	atMs === undefined || atMs - DAY_MS >= Date.now() - RANGES[range].ms;

/**
 * Returns the period in the address, or one that suits the age of the device. If it does not contain
 * the chosen day, returns the shortest one that does, or else the longest one.
 */
export function rangeOf(
	text: string | undefined,
	createdAt: string,
	atMs: number | undefined,
): Range {
	const age = Date.now() - Date.parse(createdAt);
	const usual = age < RANGES["7d"].ms ? "7d" : "30d";
	const range = text && Object.hasOwn(RANGES, text) ? (text as Range) : usual;
	if (isInRange(range, atMs)) return range;
	const all = Object.keys(RANGES) as Range[];
	return all.find((one) => isInRange(one, atMs)) ?? "365d";
}

/**
 * Returns the beginning of the period. It is earlier than the longest period if the chosen day is.
 * The time is rounded to the hour, so that opening the page again sends the same request.
 */
export function beginOf(range: Range, atMs: number | undefined): number {
	const fromMs = Date.now() - RANGES[range].ms;
	const dayMs = atMs === undefined ? fromMs : atMs - DAY_MS;
	return Math.floor(Math.min(fromMs, dayMs) / HOUR_MS) * HOUR_MS;
}

/**
 * Loads the spans and silences that overlap the time since `from`, newest first, up to the limit.
 */
export async function readSpans(
	deviceId: string,
	from: string,
	signal: AbortSignal,
): Promise<{ spans: Span[]; silences: Silence[]; isCut: boolean }> {
	const spans: Span[] = [];
	let silences: Silence[] = [];
	let cursor: string | null = null;
	for (let page = 0; page < MAX_PAGES; page++) {
		const answer: OutputOf<"listDevicePostures"> = await call(
			"listDevicePostures",
			{ device_id: deviceId, from, size: MAX_PAGE_SIZE, cursor },
			{ signal },
		);
		spans.push(...answer.device_postures);
		silences = answer.silences;
		cursor = answer.next_cursor;
		if (cursor === null) break;
	}
	return { spans, silences, isCut: cursor !== null };
}

/** A part of a check's timeline, which is a state or a time without reports. */
export interface Piece {
	status: Span["status"] | "SILENT";
	fromMs: number;
	toMs: number;
	/** The last observation before and the first one after the part, as far as they are known. */
	since: string;
	until: string | null;
}

/**
 * Returns the timeline of a check between two times, oldest first. A state holds until the next
 * observation, unless that takes longer than the organization permits (`maxSilenceMs`). Nothing is
 * known then. A silence of the whole device lies over the states of all its checks.
 */
export function piecesOf(
	spans: readonly Span[],
	silences: readonly Silence[],
	fromMs: number,
	toMs: number,
	maxSilenceMs: number,
): Piece[] {
	const end = (until: string | null) => (until ? Date.parse(until) : toMs);
	const pieces: Piece[] = [];
	for (const span of spans.toReversed()) {
		const { status, since, last_observed_at: observed, until } = span;
		const gap = { since: observed, until };
		const gaps = [
			...silences.filter(
				(silence) =>
					Date.parse(silence.since) >= Date.parse(since) &&
					end(silence.until) <= Date.parse(observed),
			),
			...(end(until) - Date.parse(observed) > maxSilenceMs ? [gap] : []),
		].toSorted((a, b) => Date.parse(a.since) - Date.parse(b.since));
		let begins = since;
		for (const silence of gaps) {
			pieces.push(piece(status, begins, silence.since));
			pieces.push(piece("SILENT", silence.since, silence.until));
			begins = silence.until ?? "";
		}
		if (begins && begins !== until) pieces.push(piece(status, begins, until));
	}
	return pieces
		.map((one) => ({
			...one,
			fromMs: Math.max(one.fromMs, fromMs),
			toMs: Math.min(one.toMs, toMs),
		}))
		.filter((one) => one.toMs >= one.fromMs && one.toMs > fromMs);

	function piece(
		status: Piece["status"],
		since: string,
		until: string | null,
	): Piece {
		const begin = Date.parse(since);
		return { status, fromMs: begin, toMs: end(until), since, until };
	}
}

/** Returns the silence that the time falls into. */
export function silenceAt(
	silences: readonly Silence[],
	atMs: number,
): Silence | undefined {
	return silences.find(
		({ since, until }) =>
			Date.parse(since) < atMs && (!until || Date.parse(until) > atMs),
	);
}

/**
 * Returns the last moment of a day, or for today the start of the current minute, so that opening the
 * page again sends the same request. Returns undefined if the text is not a date.
 */
export function momentOnDay(day: string | undefined): Date | undefined {
	if (!day || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
	if (Number.isNaN(Date.parse(day))) return undefined;
	const thisMinute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
	return new Date(Math.min(Date.parse(lastMomentOf(day)), thisMinute));
}
