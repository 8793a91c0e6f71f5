import type { AnyRecordKind } from "./kind.ts";
import type { Values } from "./values.ts";

/** Largest number of characters of a subject, as in the SQL function `subject_of`. */
const MAX_SUBJECT = 100;

type Named = Pick<AnyRecordKind, "title" | "subject">;

/**
 * Returns the name by which people know a record. For a record with a reference id, what the record
 * is about follows: "NC-005 The last access review is missing". The console names records in the
 * same way.
 */
export function recordName(
	{ title, subject = [] }: Partial<Named>,
	record: Values,
): string | null {
	const name = title ? record[title] : undefined;
	if (typeof name !== "string") return null;
	const words = subject
		.map((field) => String(record[field] ?? "").trim())
		.find((text) => text !== "");
	return words === undefined ? name : `${name} ${firstLine(words)}`;
}

/** Returns SQL for the same name of a row with this alias. The name may be null. */
export function nameSql({ title, subject = [] }: Named, row: string): string {
	if (!title) return "null::text";
	const name = `${row}.${title}`;
	if (subject.length === 0) return name;
	const texts = subject.map((field) => `${row}.${field}`);
	return `concat_ws(' ', ${name}, subject_of(${texts.join(", ")}))`;
}

function firstLine(text: string): string {
	const [line = ""] = text.split("\n");
	const characters = [...line];
	return characters.length > MAX_SUBJECT
		? `${characters.slice(0, MAX_SUBJECT - 1).join("")}…`
		: line;
}
