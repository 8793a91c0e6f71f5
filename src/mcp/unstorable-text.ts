import type { z } from "zod";

const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * A check of a whole input: its strings hold neither U+0000 nor half a surrogate pair, which
 * are legal JSON but no text that PostgreSQL can store or compare. An agent's are replaced
 * (`parseJson`), as it would repeat its report for ever; a person or a model is told.
 */
export function rejectUnstorableText(
	input: unknown,
	context: z.core.$RefinementCtx,
): void {
	const left: { value: unknown; path: PropertyKey[] }[] = [
		{ value: input, path: [] },
	];
	for (let node = left.pop(); node; node = left.pop()) {
		const { value, path } = node;
		if (typeof value === "string") {
			if (UNSTORABLE.test(value)) {
				context.addIssue({
					code: "custom",
					path,
					message:
						"must not contain U+0000 or half a surrogate pair; send valid Unicode text",
				});
			}
		} else if (Array.isArray(value)) {
			value.forEach((inner, index) => {
				left.push({ value: inner, path: [...path, index] });
			});
		} else if (typeof value === "object" && value !== null) {
			for (const [key, inner] of Object.entries(value)) {
				left.push({ value: inner, path: [...path, key] });
			}
		}
	}
}
