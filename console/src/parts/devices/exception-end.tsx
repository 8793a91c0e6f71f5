import { lastDayOf } from "../days.ts";
import { CalendarDate, DateTime } from "../time.tsx";

interface End {
	value: string | null | undefined;
}

/**
 * Shows when an exception ends: its last day in the organization's time zone, which is the same for
 * every reader, or a time if the exception ends within a day.
 */
export function ExceptionEnd({ value }: End) {
	const day = value && lastDayOf(value);
	return day ? <CalendarDate value={day} /> : <DateTime value={value} />;
}

/** Says "last day Dec 26, 2026", or "until" with a time if the exception ends within a day. */
export function UntilExceptionEnd({ value }: End) {
	return (
		<>
			{value && lastDayOf(value) ? "last day" : "until"}{" "}
			<ExceptionEnd value={value} />
		</>
	);
}
