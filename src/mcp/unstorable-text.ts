import type { z } from "zod";

const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * Rejects an input whose strings contain U+0000 or half a surrogate pair. JSON permits these
 * characters, but PostgreSQL cannot store or compare them. In an agent's report, `parseJson`
 * replaces them, because the agent would otherwise send the rejected report again forever. People
 * and AI models get an error.
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
						"must not contain U+0000 or a lone surrogate; send valid Unicode",
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
