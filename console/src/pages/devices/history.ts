import { call, type OutputOf } from "../../api.ts";

export type Span = OutputOf<"listDevicePostures">["device_postures"][number];

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PAGE = 100;
/**
 * Most pages of changes that are read. A device with more changes is shown with its latest ones.
 */
const MAX_PAGES = 10;

export const RANGES = {
	"7d": { label: "7 days", ms: 7 * DAY_MS },
	"30d": { label: "30 days", ms: 30 * DAY_MS },
	"90d": { label: "90 days", ms: 90 * DAY_MS },
	"365d": { label: "1 year", ms: 365 * DAY_MS },
} as const;

export type Range = keyof typeof RANGES;

/** Returns the period in the address, or else one that fits the age of the device. */
export function rangeOf(text: string | undefined, createdAt: string): Range {
	if (text && Object.hasOwn(RANGES, text)) return text as Range;
	const age = Date.now() - Date.parse(createdAt);
	return age < RANGES["7d"].ms ? "7d" : "30d";
}

/** Loads every span that touches the time since `from`, newest first, up to the limit. */
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

/** A piece of a check's timeline: a state, or a time without reports. */
export interface Piece {
	status: Span["status"] | "SILENT";
	fromMs: number;
	toMs: number;
	span: Span;
}

/**
 * Returns a check's timeline between two moments, oldest first. A state holds for as long as the
 * next report may take (`quietMs`). After that nothing is known until the next report.
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
		// A single observation is an instant. It is drawn as wide as a state holds.
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
 * Returns the last moment of a day in the reader's time zone. For today it is the start of this
 * minute, so that opening the page again sends the same request. Returns undefined if there is no
 * such day.
 */
export function endOfDay(day: string | undefined): Date | undefined {
	if (!day || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
	const end = new Date(`${day}T23:59:59.999`);
	if (Number.isNaN(end.getTime())) return undefined;
	const thisMinute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
	return new Date(Math.min(end.getTime(), thisMinute));
}

/** Returns today's date in the reader's time zone, as a date field takes it. */
export function today(): string {
	const now = new Date();
	return new Date(now.getTime() - now.getTimezoneOffset() * 60_000)
		.toISOString()
		.slice(0, 10);
}
