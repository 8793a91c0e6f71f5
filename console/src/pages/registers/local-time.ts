/** Converts a time to the value of a `datetime-local` input: local time, without an offset. */
export function toLocalTime(time: string): string {
	const date = new Date(time);
	const offsetMs = date.getTimezoneOffset() * 60_000;
	return new Date(date.getTime() - offsetMs).toISOString().slice(0, 19);
}

/** Converts the value of a `datetime-local` input to UTC. Returns invalid text unchanged. */
export function fromLocalTime(local: string): string {
	const date = new Date(local);
	return Number.isNaN(date.getTime()) ? local : date.toISOString();
}
