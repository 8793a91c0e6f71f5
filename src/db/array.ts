/**
 * Writes an array parameter as PostgreSQL's array text. The driver would do the same at several
 * times the cost: it checks each element's type and escapes it with two replacements.
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

/** Writes an array of bytea, given their hexadecimal digits. */
export function byteaArray(digits: readonly string[]): string {
	return digits.length === 0 ? "{}" : `{"\\\\x${digits.join('","\\\\x')}"}`;
}
