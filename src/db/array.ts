/**
 * Array parameters as PostgreSQL's array text. The driver would do the same, at several
 * times the cost: it asks each element for its type and escapes it by two replacements.
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

/** An array of bytea from their hexadecimal digits. */
export function byteaArray(digits: readonly string[]): string {
	return digits.length === 0 ? "{}" : `{"\\\\x${digits.join('","\\\\x')}"}`;
}
