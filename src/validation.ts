import { z } from "zod";
import { badFields, type FieldIssue, issuePath } from "./errors.ts";

const MAX_ISSUES = 20;
const MAX_SHOWN = 80;
/**
 * Number of sentences that are written for one input. Zod asks for one for each wrong entry of a
 * list, although an error shows only a few, and 10,000 of them could block the event loop for 70
 * ms.
 */
const MAX_SENTENCES = 1_000;

/**
 * Parses `value` according to `schema`. Throws a bad_request AppError that names every wrong field,
 * what is wrong with it and what is allowed.
 */
export function parseInput<Schema extends z.ZodType>(
	schema: Schema,
	value: unknown,
): z.output<Schema> {
	let written = 0;
	const parsed = schema.safeParse(value, {
		error: (issue) =>
			++written > MAX_SENTENCES ? "is not allowed" : sentence(issue),
	});
	if (parsed.success) return parsed.data;
	throw badFields(parsed.error.issues.slice(0, MAX_ISSUES).map(toFieldIssue));
}

function toFieldIssue(issue: z.core.$ZodIssue): FieldIssue {
	return { field: issuePath(issue.path), message: issue.message };
}

/**
 * Describes, in our own words, an issue that zod found. If the schema has a message of its own, zod
 * uses that instead.
 */
function sentence(issue: z.core.$ZodRawIssue): string | undefined {
	if (issue.input === undefined && issue.code !== "custom") {
		return "is required";
	}
	switch (issue.code) {
		case "invalid_type":
			return `must be ${typeNames[issue.expected] ?? issue.expected}`;
		case "invalid_value":
			return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}${shown(issue.input)}`;
		case "unrecognized_keys":
			return `${issue.keys.map((key) => `"${cut(key)}"`).join(", ")} ${issue.keys.length > 1 ? "are not arguments" : "is not an argument"} of this tool; the arguments are ${knownKeys(issue.inst)}`;
		case "too_small":
			return issue.origin === "string"
				? Number(issue.minimum) === 1
					? "must not be empty"
					: `must have at least ${issue.minimum} characters`
				: issue.origin === "array"
					? `must have at least ${issue.minimum} entries`
					: `must be at least ${issue.minimum}`;
		case "too_big":
			return issue.origin === "string"
				? `must have at most ${issue.maximum} characters`
				: issue.origin === "array"
					? `must have at most ${issue.maximum} entries`
					: `must be at most ${issue.maximum}`;
		case "invalid_union": {
			// The field takes one value or a list. The error is about the alternative that the caller
			// chose.
			const chosen = issue.errors.at(Array.isArray(issue.input) ? -1 : 0);
			return chosen?.[0]?.message;
		}
		default:
			return undefined;
	}
}

const typeNames: Record<string, string> = {
	string: "a string",
	number: "a number",
	int: "a whole number",
	boolean: "true or false",
	array: "an array",
	object: "a JSON object",
	record: "a JSON object",
};

/** Returns the end of an error that shows a wrong text. */
export function shown(input: unknown): string {
	return typeof input === "string" ? `, not "${cut(input)}"` : "";
}

function cut(text: string): string {
	const clean = text.replace(/\p{Cc}/gu, "\ufffd").toWellFormed();
	return clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN)}…` : clean;
}

function knownKeys(schema: unknown): string {
	return schema instanceof z.ZodObject
		? Object.keys(schema.shape).join(", ") || "none"
		: "those of its description";
}
