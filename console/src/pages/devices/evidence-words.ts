import { formatDay } from "../../parts/days.ts";
import { formatTime } from "../../parts/time-formats.ts";

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** Returns a single value of evidence for people: days and times in words, others as they were sent. */
export function evidenceInWords(value: unknown): string {
	const text = String(value);
	if (DAY.test(text)) return formatDay(text);
	return TIME.test(text) ? formatTime(text) : text;
}
