import { createHash } from "node:crypto";

/**
 * An entry's columns as text, in the order in which PostgreSQL writes the keys of a jsonb object:
 * by length, then by bytes. `hash` is missing because it is made from the others.
 */
const COLUMNS = [
	"at",
	"client",
	"address",
	"changes",
	"digests",
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
	"hash_version",
	"previous_hash",
	"organization_id",
] as const;

type Hashed = (typeof COLUMNS)[number];
type Column = Hashed | "hash" | "salts" | "change_texts";

/** The columns that an erasure may change. */
export const ERASABLE_COLUMNS = [
	"actor_name",
	"token_name",
	"client",
	"address",
	"record_name",
] as const;

/**
 * Columns that the hash leaves out, by the version in the entry. Version 2 covers digests of the
 * erasable columns and of each change. The first version covered the columns themselves.
 */
const UNHASHED: Record<string, readonly string[]> = {
	"": ["hash_version", "digests"],
	2: [...ERASABLE_COLUMNS, "changes"],
};

/**
 * A stored entry with each column as text: `at` in UTC with six decimals, hashes in hexadecimal.
 * `change_texts` is an object with the text of each change.
 */
export type StoredEntry = Record<Column, string | null>;

const READ_AS: Partial<Record<Column, string>> = {
	at: `to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`,
	previous_hash: "encode(e.previous_hash, 'hex')",
	hash: "encode(e.hash, 'hex')",
	change_texts: `(
		select coalesce(jsonb_object_agg(c.key, c.value::text), '{}') from jsonb_each(e.changes) c
	)::text`,
};

/** The select list that reads the columns of the entry `e` as StoredEntry has them. */
export const STORED_ENTRY = [...COLUMNS, "hash", "salts", "change_texts"]
	.map((name) => `${READ_AS[name as Column] ?? `e.${name}::text`} as ${name}`)
	.join(", ");

/**
 * Builds the text that an entry's hash is made of from the stored columns. The database has a
 * function that writes the same text (audit_entry_text). Somebody who can change an entry can also
 * change that function so that it answers with the earlier text. Reading therefore uses nothing of
 * it, only the output of PostgreSQL's own types.
 */
export function entryText(entry: StoredEntry): string {
	const unhashed = UNHASHED[entry.hash_version ?? ""] ?? [];
	return `{${membersOf(
		entry,
		COLUMNS.filter((name) => !unhashed.includes(name)),
	)}}`;
}

function membersOf(entry: StoredEntry, names: readonly Hashed[]): string {
	return names
		.map((name) => `"${name}": ${writeValue(name, entry[name])}`)
		.join(", ");
}

function writeValue(name: Hashed, value: string | null): string {
	if (value === null) return "null";
	switch (name) {
		case "changes":
		case "digests":
		case "hash_version":
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
 * Returns the texts of the fields that have a digest: the erasable columns and, as
 * "changes.<name>", each change.
 */
export function erasableFields(entry: StoredEntry): Map<string, string> {
	const fields = new Map<string, string>();
	for (const name of ERASABLE_COLUMNS) {
		const value = entry[name];
		if (value !== null) fields.set(name, value);
	}
	const changes: Record<string, string> = JSON.parse(
		entry.change_texts ?? "{}",
	);
	for (const [name, text] of Object.entries(changes)) {
		fields.set(`changes.${name}`, text);
	}
	return fields;
}

/** Returns the digest of a field's text. */
export function digestOf(salt: string, text: string): string {
	return hashOf(salt + text);
}

/**
 * Writes an entry as a line of an export: the members of the hashed text, then `hash` and, when the
 * hash covers digests, the fields and their salts. Everything before `hash` is the hashed text but
 * for its closing brace, so a line can be checked by itself.
 */
export function exportLine(entry: StoredEntry): string {
	const start = `${entryText(entry).slice(0, -1)}, "hash": "${entry.hash}"`;
	if (entry.hash_version === null) return `${start}}`;
	const contents = membersOf(entry, [...ERASABLE_COLUMNS, "changes"]);
	return `${start}, ${contents}, "salts": ${entry.salts}}`;
}
