/** The day of a moment where the reader is, YYYY-MM-DD, as a date field wants it. */
export function dayOf(moment: Date): string {
	const part = (number: number) => String(number).padStart(2, "0");
	return `${moment.getFullYear()}-${part(moment.getMonth() + 1)}-${part(moment.getDate())}`;
}

/** The moment at which the day begins where the reader is. */
export function startOfDay(day: string): string {
	return new Date(`${day}T00:00:00`).toISOString();
}

/** The moment at which the next day begins there: a day can have 23 or 25 hours. */
export function endOfDay(day: string): string {
	const next = new Date(`${day}T00:00:00`);
	next.setDate(next.getDate() + 1);
	return next.toISOString();
}
