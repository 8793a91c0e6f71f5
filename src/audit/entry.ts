import { createHash } from "node:crypto";

/**
 * An entry's columns as text, in the order in which PostgreSQL writes the keys of a jsonb
 * object: by length, then by bytes. `hash` is not among them: it is made of the others.
 */
const HASHED = [
	"at",
	"client",
	"address",
	"changes",
	"outcome",
	"actor_id",
	"sequence",
	"token_id",
	"operation",
	"record_id",
	"actor_kind",
	"actor_name",
	"token_name",
	"record_kind",
	"record_name",
	"previous_hash",
	"organization_id",
] as const;

type Column = (typeof HASHED)[number] | "hash";

/** A stored entry, each column as text: `at` in UTC with six decimals, hashes in hexadecimal. */
export type StoredEntry = Record<Column, string | null>;

const READ_AS: Partial<Record<Column, string>> = {
	at: `to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`,
	previous_hash: "encode(e.previous_hash, 'hex')",
	hash: "encode(e.hash, 'hex')",
};

/** As after `select`: the columns of the entry `e` as StoredEntry has them. */
export const STORED_ENTRY = [...HASHED, "hash" as const]
	.map((name) => `${READ_AS[name] ?? `e.${name}::text`} as ${name}`)
	.join(", ");

/**
 * The text that an entry's hash is made of, put together here from the columns as they are
 * stored. The database has a function that writes the same text (audit_entry_text), but whoever
 * can change an entry can change that function too, to answer with the text of before; so
 * nothing of it is used for reading, only the output of PostgreSQL's own types.
 */
export function entryText(entry: StoredEntry): string {
	const members = HASHED.map(
		(name) => `"${name}": ${writeValue(name, entry[name])}`,
	);
	return `{${members.join(", ")}}`;
}

function writeValue(
	name: (typeof HASHED)[number],
	value: string | null,
): string {
	if (value === null) return "null";
	switch (name) {
		case "changes":
		case "sequence":
			return value;
		case "at":
			// A fraction has no zeros at its end, and a whole second no fraction.
			return `"${value.replace(/\.?0+$/, "")}+00:00"`;
		case "previous_hash":
			return `"\\\\x${value}"`;
		default:
			// JSON.stringify escapes what PostgreSQL does, in the same way; of what only it escapes
			// (lone surrogates) the database stores none.
			return JSON.stringify(value);
	}
}

/** SHA-256 of a text, in hexadecimal. */
export function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}

/**
 * An entry as a line of an export: the hashed text with the hash as its last member. Without
 * that member it is the hashed text to the byte, so a line can be checked by itself.
 */
export function exportLine(entry: StoredEntry): string {
	return `${entryText(entry).slice(0, -1)}, "hash": "${entry.hash}"}`;
}
