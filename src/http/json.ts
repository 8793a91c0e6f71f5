/** Escapes of characters that PostgreSQL's text and jsonb cannot hold. */
const SUSPICIOUS = /\\u(?:0000|[dD][89a-fA-F])/;

const UNSTORABLE = /\0|\p{Surrogate}/gu;

/**
 * The value of a JSON text. U+0000 and lone surrogates in its strings become U+FFFD:
 * they are legal JSON but cannot be stored, and an agent would repeat the report for
 * ever. Of keys that become the same the last one stands. Throws a SyntaxError when the
 * text is no JSON.
 */
export function parseJson(text: string): unknown {
	const holder = { value: JSON.parse(text) as unknown };
	if (!SUSPICIOUS.test(text)) return holder.value;
	// A list of what is left, not recursion: unknown fields may be nested very deep.
	const left: object[] = [holder];
	for (let node = left.pop(); node !== undefined; node = left.pop()) {
		for (const [key, inner] of Object.entries(node)) {
			const storableKey = key.replace(UNSTORABLE, "\ufffd");
			const value =
				typeof inner === "string" ? inner.replace(UNSTORABLE, "\ufffd") : inner;
			if (typeof value === "object" && value !== null) left.push(value);
			if (storableKey !== key) Reflect.deleteProperty(node, key);
			else if (value === inner) continue;
			// Not an assignment, which a key named __proto__ would turn into something else.
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
