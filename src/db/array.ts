/**
 * Writes an array parameter as PostgreSQL's array text. The driver could do the same, but it takes
 * several times as long, because it checks the type of each element and escapes it with two
 * replacements.
 */
export function textArray(values: readonly (string | null)[]): string {
	let text = "{";
	for (const value of values) {
		if (text.length > 1) text += ",";
		if (value === null) text += "NULL";
		else if (/["\\]/.test(value)) {
			text += `"${value.replace(/["\\]/g, "\\$&")}"`;
		} else text += `"${value}"`;
	}
	return `${text}}`;
}

/** Writes an array parameter of type bytea from the hexadecimal digits of each element. */
export function byteaArray(digits: readonly string[]): string {
	return digits.length === 0 ? "{}" : `{"\\\\x${digits.join('","\\\\x')}"}`;
}
