/** The periods that a board may look back on, each with its months. */
export const PERIODS = {
	month: { label: "A month ago", months: 1 },
	quarter: { label: "A quarter ago", months: 3 },
	year: { label: "A year ago", months: 12 },
} as const;
export type Period = keyof typeof PERIODS;

export const DEFAULT_PERIOD: Period = "quarter";

export const isPeriod = (name: unknown): name is Period =>
	typeof name === "string" && Object.hasOwn(PERIODS, name);

/**
 * Returns the day that is some months earlier. If that month is shorter, it is the last day of that
 * month.
 */
export function monthsBefore(day: string, months: number): string {
	const date = new Date(`${day}T00:00:00Z`);
	const dayOfMonth = date.getUTCDate();
	date.setUTCDate(1);
	date.setUTCMonth(date.getUTCMonth() - months + 1);
	date.setUTCDate(0);
	date.setUTCDate(Math.min(dayOfMonth, date.getUTCDate()));
	return date.toISOString().slice(0, 10);
}
