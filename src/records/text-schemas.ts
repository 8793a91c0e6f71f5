import { z } from "zod";
import { NOT_RFC3339 } from "../devices/rfc3339.ts";
import {
	ID_LENGTH,
	ID_PATTERN,
	type IdKind,
	kindNoun,
	parseId,
} from "../id.ts";
import { shown } from "../validation.ts";

export const MAX_NAME = 1000;
export const MAX_TEXT = 5000;
const MAX_URL = 2048;
/** Longest e-mail address, in characters: 64 before the @ and 255 behind it (RFC 5321, 4.5.3.1). */
export const MAX_EMAIL = 320;
/** Longest text that is parsed as a date, a time or a short name. */
const MAX_SHORT = 200;

/**
 * Patterns of the same rules for the OpenAPI document: no control characters, or only those that
 * break lines or indent, and with `filled` also a character that is no blank.
 */
const pattern = (control: string, isFilled = false) =>
	isFilled
		? `^(?:(?![${control}])\\s)*[^\\s${control}][^${control}]*$`
		: `^[^${control}]*$`;
const CONTROL = "\\x00-\\x1f\\x7f-\\x9f";
const CONTROL_BUT_LINES = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f";

const noControl = (text: string) => !/\p{Cc}/u.test(text);
const noControlButLines = (text: string) => !/[^\P{Cc}\n\r\t]/u.test(text);
const isWellFormed = (text: string) => text.isWellFormed();
const isFilled = (text: string) => text.trim() !== "";

/**
 * Returns a schema for a string of at most `max` characters. Every text schema begins with this
 * one, so a text that is too long is rejected before any other check runs.
 */
function atMost(max: number) {
	return z.string().max(max, { abort: true });
}

/** Returns a schema for one line of text, without control characters and line breaks. */
export function lineSchema(max: number) {
	return atMost(max)
		.refine(noControl, "must not contain control characters or line breaks")
		.refine(isWellFormed, "must be valid Unicode")
		.meta({ pattern: pattern(CONTROL) });
}

/** Returns a schema for a name that is not blank. */
export function nameSchema(max = MAX_NAME) {
	return lineSchema(max)
		.refine(isFilled, "must not be empty")
		.meta({ minLength: 1, pattern: pattern(CONTROL, true) });
}

/** Returns a schema for text that may have several lines. */
export function textSchema(max = MAX_TEXT) {
	return atMost(max)
		.refine(noControlButLines, "must not contain control characters")
		.refine(isWellFormed, "must be valid Unicode")
		.meta({ pattern: pattern(CONTROL_BUT_LINES) });
}

/** Returns a schema for text that may have several lines and is not blank. */
export function filledTextSchema() {
	return textSchema()
		.refine(isFilled, "must not be empty")
		.meta({ minLength: 1, pattern: pattern(CONTROL_BUT_LINES, true) });
}

export function urlSchema() {
	// URL.parse alone would repair "https:e.com" and " https://e.com" instead of rejecting them.
	return lineSchema(MAX_URL)
		.refine(
			(text) =>
				/^https?:\/\/[^\s/?#]\S*$/i.test(text) && URL.parse(text) !== null,
			{
				error: ({ input }) =>
					`must be a web address that begins with http:// or https://, such as https://example.com${shown(input)}`,
			},
		)
		.meta({
			format: "uri",
			pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]\\S*$",
		});
}

export function emailSchema() {
	return lineSchema(MAX_EMAIL)
		.refine(isEmail, "must be an e-mail address such as ada@example.com")
		.meta({ format: "email" });
}

/**
 * Returns true if the text has the form `local@domain`, contains no spaces, quotes or angle
 * brackets, and has a dot within the domain.
 */
function isEmail(text: string): boolean {
	const [local = "", domain = "", ...more] = text.split("@");
	const dot = domain.lastIndexOf(".");
	return (
		more.length === 0 &&
		local !== "" &&
		dot > 0 &&
		dot < domain.length - 1 &&
		!/[\s<>"]/.test(text)
	);
}

export function dateSchema() {
	return atMost(MAX_SHORT)
		.refine(isDate, {
			error: ({ input }) =>
				`must be a calendar date as YYYY-MM-DD, from the years 1900 to 9999${shown(input)}`,
		})
		.meta({ format: "date" });
}

function isDate(text: string): boolean {
	if (!/^(19|[2-9]\d)\d\d-\d\d-\d\d$/.test(text)) return false;
	const time = new Date(`${text}T00:00:00Z`);
	return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

/**
 * Returns a schema for an RFC 3339 time with an offset. PostgreSQL accepts offsets only up to
 * 15:59. That is enough, because no offset in use is larger than 14 hours.
 */
export function timeSchema() {
	return atMost(MAX_SHORT)
		.refine(
			(text) => z.iso.datetime({ offset: true }).safeParse(text).success,
			{
				error: NOT_RFC3339,
				abort: true,
			},
		)
		.refine(
			(text) => /^(19|[2-9]\d)\d\d-.*(Z|[+-](0\d|1[0-4]):\d\d)$/.test(text),
			"must be from the years 1900 to 9999, with an offset of at most 14 hours",
		)
		.meta({ format: "date-time" });
}

/** Returns a schema for an id of any kind. */
export function anyIdSchema() {
	const no = { abort: true, error: `must be an id of ${ID_LENGTH} characters` };
	return z
		.string()
		.length(ID_LENGTH, no)
		.regex(/^[\w-]+$/, no)
		.refine(
			(text) => parseId(text) !== undefined,
			"must be an id that Assay has returned; nothing has an id of this kind",
		);
}

/**
 * Returns a schema for the id of a record of this kind. `missing` is the error if there is none.
 */
export function idSchema(kind: IdKind, missing?: string) {
	const wanted = `must be the id of ${article(kindNoun(kind))} (${ID_LENGTH} characters)`;
	const error: z.core.$ZodErrorMap = ({ input }) =>
		(input ?? undefined) === undefined ? missing : undefined;
	return z
		.string({ error })
		.refine((text) => parseId(text)?.kind === kind, {
			error: ({ input }) => {
				const other = parseId(String(input))?.kind;
				return other
					? `${wanted}; this is the id of ${article(kindNoun(other))}`
					: wanted;
			},
		})
		.meta({ pattern: ID_PATTERN.source });
}

export function article(noun: string): string {
	return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}
