/** Matches escapes of characters that PostgreSQL's text and jsonb cannot hold. */
const SUSPICIOUS = /\\u(?:0000|[dD][89a-fA-F])/;

const UNSTORABLE = /\0|\p{Surrogate}/gu;

/**
 * Parses a JSON text. U+0000 and lone surrogates in its strings become U+FFFD: they are legal JSON
 * but cannot be stored, and an agent would repeat the report for ever. If keys become equal, the
 * last one counts. Throws a SyntaxError if the text is not JSON.
 */
export function parseJson(text: string): unknown {
	const holder = { value: JSON.parse(text) as unknown };
	if (!SUSPICIOUS.test(text)) return holder.value;
	// A list of the remaining values instead of recursion, because fields may be nested very deep.
	const left: object[] = [holder];
	for (let node = left.pop(); node !== undefined; node = left.pop()) {
		for (const [key, inner] of Object.entries(node)) {
			const storableKey = key.replace(UNSTORABLE, "\ufffd");
			const value =
				typeof inner === "string" ? inner.replace(UNSTORABLE, "\ufffd") : inner;
			if (typeof value === "object" && value !== null) left.push(value);
			if (storableKey !== key) Reflect.deleteProperty(node, key);
			else if (value === inner) continue;
			// Not an assignment, because a key named __proto__ would set the prototype.
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
