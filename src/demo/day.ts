const DAY_MS = 86_400_000;

/** YYYY-MM-DD, so many days from today. */
export function day(days: number): string {
	return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}

/** The name of the month in which that day is. */
export function month(days: number): string {
	return new Date(`${day(days)}T12:00:00Z`).toLocaleString("en", {
		month: "long",
		timeZone: "UTC",
	});
}
