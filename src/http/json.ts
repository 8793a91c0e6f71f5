/** Escapes of characters that PostgreSQL's text and jsonb cannot hold. */
const SUSPICIOUS = /\\u(?:0000|[dD][89a-fA-F])/;

/** Every escape in a JSON text, one after the other, so that `\\u0000` is not taken for `\u0000`. */
const ESCAPES =
	/\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u0000|u[dD][89a-fA-F][0-9a-fA-F]{2})|[\s\S])/g;

/**
 * The value of a JSON text. U+0000 and lone surrogates in its strings become U+FFFD:
 * they are legal JSON but cannot be stored, and an agent would repeat the report for
 * ever. Throws a SyntaxError when the text is no JSON.
 */
export function parseJson(text: string): unknown {
	return JSON.parse(
		SUSPICIOUS.test(text)
			? text.replace(ESCAPES, (sequence, unstorable) =>
					unstorable === undefined ? sequence : "\\ufffd",
				)
			: text,
	);
}
