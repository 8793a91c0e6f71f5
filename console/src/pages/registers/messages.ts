import { isScale } from "../../../../src/records/scales.ts";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { daysInWords } from "../../parts/days.ts";
import { askFor, isMissing } from "../../parts/server-errors.ts";

/**
 * Replaces names in a message of the server with the labels that the form shows. The server uses
 * the names of tools and CSV columns, such as `contract_start_date` and `EXCLUDED`. If the value of
 * `about` is missing, asks for it.
 */
export function inWordsOf(
	{ fields }: Pick<KindDescription, "fields">,
	text: string,
	about?: string,
): string {
	const missing = isMissing(text) && fields.find(({ name }) => name === about);
	if (missing) return askForValue(missing);
	const words = new Map<string, string>();
	for (const { name, label, type, choices = [] } of fields) {
		// A name without an underscore, such as `status`, may also be an ordinary word of the sentence,
		// so it is not replaced.
		if (name.includes("_")) words.set(name, `“${label}”`);
		// “IT” is a category in more messages than it is Italy.
		if (type === "countries") continue;
		for (const { value, label } of choices) {
			if (/^[A-Z_]{2,}$/.test(value)) words.set(value, `“${label}”`);
		}
	}
	// Text in quotes was typed by a user, so only the quotes become those of the other texts.
	return text
		.split(/("[^"]*"|“[^“”]*”)/)
		.map((part) =>
			/^["“]/.test(part)
				? `“${part.slice(1, -1)}”`
				: daysInWords(part.replace(/\w+/g, (w) => words.get(w) ?? w)),
		)
		.join("");
}

/** Returns a request for the value of a field, such as "Choose a category." */
export function askForValue(field: FieldDescription): string {
	return askFor(field.label, isChosen(field) ? "Choose" : "Enter");
}

/** Returns true for a field whose value is picked and not typed. */
function isChosen(field: FieldDescription): boolean {
	return /^(choice|reference|date)/.test(field.type) || isScale(field);
}
