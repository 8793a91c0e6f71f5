import type { FormErrors } from "@mantine/form";
import { ApiError, asSentence } from "../api.ts";
import { inWords } from "./names-in-words.ts";

/** The methods of a form that this file needs. They do not depend on the form's values. */
interface FormLike {
	setErrors: (errors: FormErrors) => void;
	getInputNode: (path: string) => HTMLElement | null;
}

/**
 * Shows the server's messages beside the fields that they name, and moves the focus to the first of
 * these fields. Returns the rest as one sentence for the form as a whole, or null. The rest
 * consists of messages about fields that are not `shown` and of errors that do not concern a field.
 */
export function applyServerErrors(
	form: FormLike,
	error: unknown,
	shown: readonly string[],
	/** Replaces the server's message about a field, or about no field, with the words of the form. */
	wordsOf: (text: string, field?: string) => string = usualWords,
): string | null {
	if (!(error instanceof ApiError)) throw error;
	const errors: FormErrors = {};
	const others: string[] = [];
	for (const { field, message } of error.fields) {
		// A name such as `vendor_ids[2]` means an element of the field vendor_ids.
		const name = field.split(/[.[]/, 1)[0] ?? "";
		if (shown.includes(name)) {
			errors[name] ??= asSentence(wordsOf(message, name));
		} else others.push(wordsOf(field ? `${field} ${message}` : message));
	}
	form.setErrors(errors);
	const first = Object.keys(errors)[0];
	if (first) form.getInputNode(first)?.focus();
	if (others.length > 0) return asSentence(others.join("; "));
	return first ? null : wordsOf(error.message);
}

function usualWords(text: string, field?: string): string {
	return field && isMissing(text) ? askFor(inWords(field)) : text;
}

/** Returns true for the server's message about a value that is missing. */
export function isMissing(message: string): boolean {
	return message === "is required" || message === "must not be empty";
}

/** Returns a request for the value of the field with this label, such as "Enter a name." */
export function askFor(label: string, verb: "Enter" | "Choose" = "Enter") {
	const isAcronym = /^[A-Z]{2}/.test(label);
	const noun = isAcronym
		? label
		: label.charAt(0).toLowerCase() + label.slice(1);
	return `${verb} ${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}.`;
}
