/** Returns a time as a `datetime-local` input has it: in the reader's zone, without an offset. */
export function toLocalTime(time: string): string {
	const date = new Date(time);
	const offsetMs = date.getTimezoneOffset() * 60_000;
	return new Date(date.getTime() - offsetMs).toISOString().slice(0, 19);
}

/** Returns the time that a `datetime-local` input means, in UTC; what is no time stays as it is. */
export function fromLocalTime(local: string): string {
	const date = new Date(local);
	return Number.isNaN(date.getTime()) ? local : date.toISOString();
}
