import { useSyncExternalStore } from "react";
import { isPastShown } from "../past.ts";
import { formatDay } from "./days.ts";
import { relativeTo } from "./relative-time.ts";
import { FORMATS, FULL } from "./time-formats.ts";

/**
 * Shows a time in the reader's time zone, with the given precision. The tooltip shows the full
 * time.
 */
export function DateTime({
	value,
	to = "minutes",
}: {
	value: string | null | undefined;
	to?: keyof typeof FORMATS;
}) {
	if (!value) return <>–</>;
	const date = new Date(value);
	return (
		<time dateTime={value} title={FULL.format(date)}>
			{withoutBreaks(FORMATS[to].format(date))}
		</time>
	);
}

/**
 * Shows a time such as "3 hours ago", and on a page of a past day the time itself. The tooltip shows
 * the full time.
 */
export function RelativeTime({ value }: { value: string | null | undefined }) {
	if (!value) return <>–</>;
	if (isPastShown()) return <DateTime value={value} />;
	return <Ago value={value} />;
}

/** Renders only itself again when its words change. */
function Ago({ value }: { value: string }) {
	const date = new Date(value);
	const words = useSyncExternalStore(everyMinute, () =>
		relativeTo(date, Date.now()),
	);
	return (
		<time
			dateTime={value}
			title={FULL.format(date)}
			style={{ whiteSpace: "nowrap" }}
		>
			{words}
		</time>
	);
}

const MINUTE_MS = 60_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls `listener` each minute. All relative times of the page share one timer. */
function everyMinute(listener: () => void): () => void {
	listeners.add(listener);
	timer ??= setInterval(() => {
		for (const one of listeners) one();
	}, MINUTE_MS);
	return () => {
		listeners.delete(listener);
		if (listeners.size > 0) return;
		clearInterval(timer);
		timer = undefined;
	};
}

/** Shows a calendar date that is given as YYYY-MM-DD. */
export function CalendarDate({ value }: { value: string | null | undefined }) {
	if (!value) return <>–</>;
	return (
		<time dateTime={value} style={{ whiteSpace: "nowrap" }}>
			{formatDay(value)}
		</time>
	);
}

/** Keeps a time on one line by replacing the space before AM or PM with one that does not break. */
function withoutBreaks(text: string): string {
	return text.replace(/(?<=\d) (?=[AP]M\b)/gi, "\u00a0");
}
