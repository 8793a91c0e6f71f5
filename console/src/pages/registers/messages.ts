import type { KindDescription } from "../../kind-description.ts";
import { formatDay } from "../../parts/time.tsx";

/**
 * What the server says of a record in the words of its form: it names fields and choices as the
 * tools and the columns of a file do, `contract_start_date` and `EXCLUDED`.
 */
export function inWordsOf(
	{ fields }: Pick<KindDescription, "fields">,
	text: string,
): string {
	const words = new Map<string, string>();
	for (const { name, label, choices = [] } of fields) {
		// A name of one word, such as `status`, is a word of the sentence as well.
		if (name.includes("_")) words.set(name, `“${label}”`);
		for (const { value, label } of choices) {
			if (/^[A-Z_]{3,}$/.test(value)) words.set(value, `“${label}”`);
		}
	}
	// What somebody typed is quoted, and stays as it was typed.
	return text
		.split(/("[^"]*")/)
		.map((part) =>
			part.startsWith('"')
				? part
				: part
						.replace(/\b[A-Za-z]+(_[A-Za-z]+)*\b/g, (w) => words.get(w) ?? w)
						.replace(/\b\d{4}-\d\d-\d\d\b/g, formatDay),
		)
		.join("");
}
