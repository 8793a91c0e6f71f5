import type { KindDescription } from "../../kind-description.ts";
import { formatDay } from "../../parts/time.tsx";

/**
 * Returns the server's message in the words of the form. The server names fields and choices as
 * tools and CSV columns do, for example `contract_start_date` and `EXCLUDED`.
 */
export function inWordsOf(
	{ fields }: Pick<KindDescription, "fields">,
	text: string,
): string {
	const words = new Map<string, string>();
	for (const { name, label, choices = [] } of fields) {
		// A name without an underscore, such as `status`, may be an ordinary word of the sentence.
		if (name.includes("_")) words.set(name, `“${label}”`);
		for (const { value, label } of choices) {
			if (/^[A-Z_]{3,}$/.test(value)) words.set(value, `“${label}”`);
		}
	}
	// Quoted text was typed by somebody and is kept as it is.
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
