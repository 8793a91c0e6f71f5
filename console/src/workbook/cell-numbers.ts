import type { CellFormat } from "./cell-formats.ts";

const DAY_MS = 86_400_000;
const DAY_S = 86_400;
/** The last day of the year 9999, counted from 1900. Excel has no later one. */
const LAST_DAY = 2_958_465;

/**
 * Returns the text for the number of a cell. A date is YYYY-MM-DD, with the time behind it if the
 * cell shows a time and it is not midnight.
 */
export function textOfNumber(
	number: number,
	format: CellFormat,
	is1904: boolean,
): string {
	switch (format.type) {
		case "number":
			return plain(number);
		case "percent":
			return `${plain(number * 100)}%`;
		case "padded": {
			const whole = Math.round(Math.abs(number));
			const digits = String(whole).padStart(format.digits, "0");
			const sign = number < 0 && whole > 0 ? "-" : "";
			return `${sign}${format.before}${digits}${format.after}`;
		}
		case "time":
			return timeOf(number) ?? plain(number);
		default: {
			const date = dayOf(number, is1904);
			if (!date) return plain(number);
			const time = format.type === "datetime" ? timeOf(date.rest) : undefined;
			return time === undefined || time === "00:00"
				? date.day
				: `${date.day} ${time}`;
		}
	}
}

/** Writes a number with the 15 digits that Excel keeps, so that 0.1 + 0.2 is 0.3. */
function plain(number: number): string {
	return String(Number(number.toPrecision(15)));
}

/** Returns the calendar day of a number of days, and the part of the day that has passed. */
function dayOf(
	number: number,
	is1904: boolean,
): { day: string; rest: number } | undefined {
	// Half a second more, so that a time that is stored a little too low stays on its day.
	const rounded = Math.floor(number + 0.5 / DAY_S);
	const days = is1904 ? rounded + 1462 : rounded;
	if (days < 1 || days > LAST_DAY) return undefined;
	// Excel takes 1900 for a leap year: its day 60 is a 29 February that never was.
	const sinceEpoch = days > 60 ? days : days + 1;
	const time = new Date(Date.UTC(1899, 11, 30) + sinceEpoch * DAY_MS);
	return { day: time.toISOString().slice(0, 10), rest: number - rounded };
}

/** Returns a time such as 15:30 or 15:30:05. A duration may have more than 24 hours. */
function timeOf(number: number): string | undefined {
	const seconds = Math.max(0, Math.round(number * DAY_S));
	if (number < -1 || !Number.isSafeInteger(seconds)) return undefined;
	const [hours, minutes, rest] = [
		Math.floor(seconds / 3600),
		Math.floor(seconds / 60) % 60,
		seconds % 60,
	].map((part) => String(part).padStart(2, "0"));
	return rest === "00" ? `${hours}:${minutes}` : `${hours}:${minutes}:${rest}`;
}
