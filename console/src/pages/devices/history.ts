import { call, type OutputOf } from "../../api.ts";

export type Span = OutputOf<"listDevicePostures">["device_postures"][number];

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PAGE = 100;
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

/** Returns the period in the address, or one that suits the age of the device. */
export function rangeOf(text: string | undefined, createdAt: string): Range {
	if (text && Object.hasOwn(RANGES, text)) return text as Range;
	const age = Date.now() - Date.parse(createdAt);
	return age < RANGES["7d"].ms ? "7d" : "30d";
}

/** Loads the spans that overlap the time since `from`, newest first, up to the limit. */
export async function readSpans(
	deviceId: string,
	from: string,
	signal: AbortSignal,
): Promise<{ spans: Span[]; isCut: boolean }> {
	const spans: Span[] = [];
	let cursor: string | null = null;
	for (let page = 0; page < MAX_PAGES; page++) {
		const answer: OutputOf<"listDevicePostures"> = await call(
			"listDevicePostures",
			{ device_id: deviceId, from, size: PAGE, cursor },
			{ signal },
		);
		spans.push(...answer.device_postures);
		cursor = answer.next_cursor;
		if (cursor === null) break;
	}
	return { spans, isCut: cursor !== null };
}

/** A part of a check's timeline, which is a state or a time without reports. */
export interface Piece {
	status: Span["status"] | "SILENT";
	fromMs: number;
	toMs: number;
	span: Span;
}

/**
 * Returns the timeline of a check between two times, oldest first. A state holds until the next
 * report is due at the latest (`quietMs`). After that, nothing is known until the next report
 * arrives.
 */
export function piecesOf(
	spans: readonly Span[],
	fromMs: number,
	toMs: number,
	quietMs: number,
): Piece[] {
	const pieces: Piece[] = [];
	for (const span of spans.toReversed()) {
		const begins = Date.parse(span.since);
		const observed = Date.parse(span.last_observed_at);
		const ends = span.until ? Date.parse(span.until) : toMs;
		const isQuiet = ends - observed > quietMs;
		const holds = isQuiet ? observed : ends;
		// A single observation has no duration, so it is drawn as long as its state holds.
		const shown = isQuiet
			? Math.min(Math.max(holds, begins + quietMs), ends)
			: holds;
		pieces.push({ status: span.status, fromMs: begins, toMs: shown, span });
		if (isQuiet) {
			pieces.push({ status: "SILENT", fromMs: shown, toMs: ends, span });
		}
	}
	return pieces
		.map((piece) => ({
			...piece,
			fromMs: Math.max(piece.fromMs, fromMs),
			toMs: Math.min(piece.toMs, toMs),
		}))
		.filter((piece) => piece.toMs > piece.fromMs);
}

/**
 * Returns the last moment of a day in the reader's time zone. For today, returns the start of the
 * current minute, so that opening the page again sends the same request. Returns undefined if the
 * text is not a date.
 */
export function endOfDay(day: string | undefined): Date | undefined {
	if (!day || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
	const end = new Date(`${day}T23:59:59.999`);
	if (Number.isNaN(end.getTime())) return undefined;
	const thisMinute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
	return new Date(Math.min(end.getTime(), thisMinute));
}

/** Returns today's date in the reader's time zone, in the format of a date field. */
export function today(): string {
	const now = new Date();
	return new Date(now.getTime() - now.getTimezoneOffset() * 60_000)
		.toISOString()
		.slice(0, 10);
}
