/**
 * Characters that nobody sees but that change how a text is read: control characters, bidirectional
 * controls, and the tag characters U+E0000 to U+E007F. AI models read tag characters.
 */
const HIDDEN =
	/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;
const LINE_BREAKS_AND_TABS = /[\t\n\r]+/g;
/**
 * Matches printable ASCII. Nearly all texts are printable ASCII, and they need no check of each
 * character's class.
 */
const PLAIN = /^[ -~]*$/;

/**
 * Returns a text from a device without hidden characters. Consecutive line breaks and tabs become
 * one space.
 */
export function visibleText(text: string): string {
	if (PLAIN.test(text)) return text;
	return text.replace(LINE_BREAKS_AND_TABS, " ").replace(HIDDEN, "");
}

/** Bidirectional controls and tag characters. JSON escapes control characters. */
const HIDDEN_IN_JSON =
	/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** Returns a JSON text, such as the result of a tool, without hidden characters in its strings. */
export function visibleJson(json: string): string {
	return json.replace(HIDDEN_IN_JSON, "");
}

/** Returns a JSON value from a device after applying `visibleText` to all its texts and keys. */
export function visibleValue(value: unknown): unknown {
	if (typeof value === "string") return visibleText(value);
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(visibleValue);
	return Object.fromEntries(
		Object.entries(value).map(([key, inner]) => [
			visibleText(key),
			visibleValue(inner),
		]),
	);
}
