import { AppError } from "../errors.ts";

/** Messages for a body that is not UTF-8 or not JSON. */
export const NOT_UTF8 = "the body must be JSON in UTF-8";
export const NOT_JSON = "the body must be valid JSON";

/** Matches JSON escapes of characters that PostgreSQL's types text and jsonb cannot store. */
const SUSPICIOUS = /\\u(?:0000|[dD][89a-fA-F])/;

const UNSTORABLE = /\0|\p{Surrogate}/gu;

/**
 * Parses a JSON text. U+0000 and lone surrogates in its strings become U+FFFD. JSON permits these
 * characters, but PostgreSQL cannot store them. If the service rejected them, an agent would send
 * the same report again forever. If two keys become equal, the last one counts. Throws a
 * SyntaxError if the text is not JSON.
 */
export function parseJson(text: string): unknown {
	const holder = { value: JSON.parse(text) as unknown };
	if (!SUSPICIOUS.test(text)) return holder.value;
	// The loop keeps a list of values to visit. A recursive function could overflow the stack,
	// because values may be nested very deep.
	const left: object[] = [holder];
	for (let node = left.pop(); node !== undefined; node = left.pop()) {
		for (const [key, inner] of Object.entries(node)) {
			const storableKey = key.replace(UNSTORABLE, "\ufffd");
			const value =
				typeof inner === "string" ? inner.replace(UNSTORABLE, "\ufffd") : inner;
			if (typeof value === "object" && value !== null) left.push(value);
			if (storableKey !== key) Reflect.deleteProperty(node, key);
			else if (value === inner) continue;
			// A plain assignment would be wrong, because a key named __proto__ would set the prototype.
			Object.defineProperty(node, storableKey, {
				value,
				enumerable: true,
				configurable: true,
				writable: true,
			});
		}
	}
	return holder.value;
}

export interface ShapeLimits {
	/** Largest number of arrays and objects within each other. */
	depth: number;
	/** Largest number of commas and colons, which stand between keys and values. */
	values: number;
}

/**
 * Limits for JSON from tools and forms. The input with the most values is that of addRecords: 50
 * vendors, each with 100 certifications, 100 countries and 50 links, have 14,000.
 */
const SHAPE_LIMITS: ShapeLimits = { depth: 64, values: 20_000 };
/** Longest number or other word. A number of a million digits takes 70 ms to parse. */
const MAX_WORD = 1_000;

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * Throws a bad_request AppError when a JSON text is nested too deep or has too many values. The
 * function takes linear time. Call it before parsing. Within the limit of bytes, a body could have
 * half a million nested arrays or 90,000 keys. Parsing and rejecting such a body would block the
 * event loop for 350 ms.
 */
export function requireLimitedShape(
	text: string,
	limits: ShapeLimits = SHAPE_LIMITS,
): void {
	const problem = shapeProblem(text, limits);
	if (problem) throw new AppError("bad_request", problem);
}

/**
 * Describes which limit the JSON text exceeds. Returns undefined if it exceeds none. Takes linear
 * time.
 */
export function shapeProblem(
	text: string,
	limits: ShapeLimits,
): string | undefined {
	let depth = 0;
	let values = 0;
	let word = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code > SPACE && ++word > MAX_WORD) {
			return `the body must not contain a number with more than ${MAX_WORD} characters`;
		}
		if (code === QUOTE) at = endOfString(text, at);
		else if (code === COMMA || code === COLON) values++;
		// In ASCII, "[" and "{" differ only in this bit, and so do "]" and "}".
		else if ((code | 0x20) === 0x7b) depth++;
		else if ((code | 0x20) === 0x7d) depth--;
		else continue;
		word = 0;
		if (depth > limits.depth) {
			return `the body must have at most ${limits.depth} levels of arrays and objects`;
		}
		if (values > limits.values) {
			return `the body must have at most ${limits.values} keys and values; send less at a time`;
		}
	}
	return undefined;
}

/** Returns the position of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
	for (let at = start + 1; ; at++) {
		at = text.indexOf('"', at);
		if (at < 0) return text.length;
		let backslashes = 0;
		while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
		if (backslashes % 2 === 0) return at;
	}
}
