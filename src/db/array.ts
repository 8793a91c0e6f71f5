/**
 * Writes an array parameter as PostgreSQL's array text. The driver could do the same, but it takes
 * several times as long, because it checks the type of each element and escapes it with two
 * replacements.
 */
export function textArray(values: readonly (string | null)[]): string {
	// One join makes one text. Adding the elements one after another makes two for each.
	if (values.length > 0 && values.every(isPlain)) {
		return `{"${values.join('","')}"}`;
	}
	return `{${values.map(element).join(",")}}`;
}

const isPlain = (value: string | null) =>
	value !== null && !/["\\]/.test(value);

const element = (value: string | null) =>
	value === null ? "NULL" : `"${value.replace(/["\\]/g, "\\$&")}"`;

/** Writes an array parameter of type bytea from the hexadecimal digits of each element. */
export function byteaArray(digits: readonly string[]): string {
	return digits.length === 0 ? "{}" : `{"\\\\x${digits.join('","\\\\x')}"}`;
}
