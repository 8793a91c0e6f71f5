import { type CustomTypesConfig, types } from "pg";

type TypeParsers = CustomTypesConfig["getTypeParser"];

const { DATE, TIMESTAMPTZ } = types.builtins;
const toDate = types.getTypeParser(TIMESTAMPTZ);

/** Times become Date, as better-auth wants them. A date has no zone: it stays YYYY-MM-DD. */
export const timesAsDates: TypeParsers = (oid, format) =>
	oid === DATE ? (text: string) => text : types.getTypeParser(oid, format);

/** Times become what callers see, RFC 3339: a Date on the way would cost a tenth of a list. */
export const timesAsText: TypeParsers = (oid, format) =>
	oid === TIMESTAMPTZ ? toRfc3339 : timesAsDates(oid, format);

/**
 * "2026-11-21T16:28:23.120Z" for "2026-11-21 16:28:23.120456+00", which is what PostgreSQL writes
 * where the zone is UTC and the style ISO; zeros at the end of a fraction are not written. What
 * is before the year 1 or after 9999 comes as Date writes it, and infinity as it is.
 */
export function toRfc3339(text: string): string {
	if (text[10] !== " " || !text.endsWith("+00")) {
		return new Date(toDate(text)).toJSON() ?? text;
	}
	const milliseconds = text.slice(20, -3).slice(0, 3).padEnd(3, "0");
	return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}
