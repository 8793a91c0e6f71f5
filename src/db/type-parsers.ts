import { type CustomTypesConfig, types } from "pg";

type TypeParsers = CustomTypesConfig["getTypeParser"];

const { DATE, TIMESTAMPTZ } = types.builtins;
const toDate = types.getTypeParser(TIMESTAMPTZ);

/**
 * Parses times as Date objects, which better-auth needs. A date has no time zone and stays text
 * (YYYY-MM-DD).
 */
export const timesAsDates: TypeParsers = (oid, format) =>
	oid === DATE ? (text: string) => text : types.getTypeParser(oid, format);

/**
 * Parses times as the RFC 3339 text that callers see. Converting each time to a Date and back would
 * take a tenth of the time that a list takes.
 */
export const timesAsText: TypeParsers = (oid, format) =>
	oid === TIMESTAMPTZ ? toRfc3339 : timesAsDates(oid, format);

/**
 * Returns "2026-11-21T16:28:23.120Z" for "2026-11-21 16:28:23.120456+00". PostgreSQL writes times
 * in that form when the time zone is UTC and the style is ISO, and it omits zeros at the end of the
 * fraction. A time before the year 1 or after 9999 is returned in the format of Date, and infinity
 * stays as it is.
 */
export function toRfc3339(text: string): string {
	if (text[10] !== " " || !text.endsWith("+00")) {
		return new Date(toDate(text)).toJSON() ?? text;
	}
	const milliseconds = text.slice(20, -3).slice(0, 3).padEnd(3, "0");
	return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}
