import type { FormErrors } from "@mantine/form";
import { ApiError, asSentence } from "../api.ts";

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
	/** Replaces the server's names of fields and choices with words. */
	inWords: (text: string) => string = (text) => text,
): string | null {
	if (!(error instanceof ApiError)) throw error;
	const errors: FormErrors = {};
	const others: string[] = [];
	for (const { field, message } of error.fields) {
		// A name such as `vendor_ids[2]` means an element of the field vendor_ids.
		const name = field.split(/[.[]/, 1)[0] ?? "";
		if (shown.includes(name)) errors[name] ??= asSentence(inWords(message));
		else others.push(inWords(field ? `${field} ${message}` : message));
	}
	form.setErrors(errors);
	const first = Object.keys(errors)[0];
	if (first) form.getInputNode(first)?.focus();
	if (others.length > 0) return asSentence(others.join("; "));
	return first ? null : inWords(error.message);
}
