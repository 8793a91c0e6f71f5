import { createHash } from "node:crypto";

/**
 * An entry's columns as text, in the order in which PostgreSQL writes the keys of a jsonb object:
 * by length, then by bytes. `hash` is missing because it is made from the others.
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

/**
 * A stored entry with each column as text: `at` in UTC with six decimals, hashes in hexadecimal.
 */
export type StoredEntry = Record<Column, string | null>;

const READ_AS: Partial<Record<Column, string>> = {
	at: `to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`,
	previous_hash: "encode(e.previous_hash, 'hex')",
	hash: "encode(e.hash, 'hex')",
};

/** The select list that reads the columns of the entry `e` as StoredEntry has them. */
export const STORED_ENTRY = [...HASHED, "hash" as const]
	.map((name) => `${READ_AS[name] ?? `e.${name}::text`} as ${name}`)
	.join(", ");

/**
 * Builds the text that an entry's hash is made of from the stored columns. The database has a
 * function that writes the same text (audit_entry_text). Somebody who can change an entry can also
 * change that function so that it answers with the earlier text. Reading therefore uses nothing of
 * it, only the output of PostgreSQL's own types.
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
			// PostgreSQL writes no zeros at the end of a fraction, and no fraction for a whole second.
			return `"${value.replace(/\.?0+$/, "")}+00:00"`;
		case "previous_hash":
			return `"\\\\x${value}"`;
		default:
			// JSON.stringify escapes the same characters as PostgreSQL, in the same way. It also escapes
			// lone surrogates, but the database stores none.
			return JSON.stringify(value);
	}
}

/** Returns the SHA-256 of a text, in hexadecimal. */
export function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}

/**
 * Writes an entry as a line of an export: the hashed text with the hash as its last member. Without
 * that member the line is exactly the hashed text, so a line can be checked by itself.
 */
export function exportLine(entry: StoredEntry): string {
	return `${entryText(entry).slice(0, -1)}, "hash": "${entry.hash}"}`;
}
