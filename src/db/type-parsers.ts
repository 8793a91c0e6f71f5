import { type CustomTypesConfig, types } from "pg";

type TypeParsers = CustomTypesConfig["getTypeParser"];

const { DATE, TIMESTAMPTZ } = types.builtins;
const toDate = types.getTypeParser(TIMESTAMPTZ);

/** Parses times as Date, which better-auth needs. A date has no zone and stays YYYY-MM-DD. */
export const timesAsDates: TypeParsers = (oid, format) =>
	oid === DATE ? (text: string) => text : types.getTypeParser(oid, format);

/**
 * Parses times as the RFC 3339 text that callers see. Going through Date would cost a tenth of a
 * list.
 */
export const timesAsText: TypeParsers = (oid, format) =>
	oid === TIMESTAMPTZ ? toRfc3339 : timesAsDates(oid, format);

/**
 * Returns "2026-11-21T16:28:23.120Z" for "2026-11-21 16:28:23.120456+00", which PostgreSQL writes
 * when the zone is UTC and the style is ISO. PostgreSQL omits zeros at the end of a fraction. Times
 * before the year 1 or after 9999 come in Date's format, and infinity stays as it is.
 */
export function toRfc3339(text: string): string {
	if (text[10] !== " " || !text.endsWith("+00")) {
		return new Date(toDate(text)).toJSON() ?? text;
	}
	const milliseconds = text.slice(20, -3).slice(0, 3).padEnd(3, "0");
	return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}
