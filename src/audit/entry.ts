import { createHash } from "node:crypto";

/**
 * The columns of an entry as text, in the order in which PostgreSQL writes the keys of a jsonb
 * object: by length, and then by bytes. `hash` is not among them, because it is computed from the
 * others.
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
	"import_id",
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

/** The columns whose values an erasure may change. */
export const ERASABLE_COLUMNS = [
	"actor_name",
	"token_name",
	"client",
	"address",
	"record_name",
] as const;

/**
 * Columns that the hash does not cover, by the version of the hash in the entry. In version 2, the
 * hash covers digests of the erasable columns and of each change. In the first version, it covered
 * these columns directly.
 */
const UNHASHED: Record<string, readonly string[]> = {
	"": ["hash_version", "digests"],
	2: [...ERASABLE_COLUMNS, "changes"],
};

/**
 * A sealed entry with every column as text. The number and the hashes come from its seal. `at` is
 * in UTC with six decimals, and hashes are hexadecimal. `change_texts` is an object with the text
 * of each change.
 */
export type StoredEntry = Record<Column, string | null>;

const READ_AS: Partial<Record<Column, string>> = {
	sequence: "s.sequence::text",
	at: `to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`,
	previous_hash: "encode(s.previous_hash, 'hex')",
	hash: "encode(s.hash, 'hex')",
	change_texts: `(
		select coalesce(jsonb_object_agg(c.key, c.value::text), '{}') from jsonb_each(e.changes) c
	)::text`,
};

/** A select list that reads the entry `e` and its seal `s` in the form of StoredEntry. */
export const STORED_ENTRY = [...COLUMNS, "hash", "salts", "change_texts"]
	.map((name) => `${READ_AS[name as Column] ?? `e.${name}::text`} as ${name}`)
	.join(", ");

/**
 * Builds the text from which an entry's hash is computed, using the stored columns. The database
 * has a function that writes the same text (audit_entry_text). Somebody who can change an entry can
 * also change that function so that it returns the original text. This code therefore calls none of
 * the database's own functions and relies only on the output of PostgreSQL's built-in types.
 */
export function entryText(entry: StoredEntry): string {
	const unhashed = UNHASHED[entry.hash_version ?? ""] ?? [];
	return `{${membersOf(
		entry,
		COLUMNS.filter((name) => !unhashed.includes(name)),
	)}}`;
}

function membersOf(entry: StoredEntry, names: readonly Hashed[]): string {
	return (
		names
			// Most entries belong to no import, and older ones were hashed before there was this column.
			.filter((name) => name !== "import_id" || entry.import_id !== null)
			.map((name) => `"${name}": ${writeValue(name, entry[name])}`)
			.join(", ")
	);
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
			// PostgreSQL omits zeros at the end of a fraction, and omits the fraction of a whole second.
			return `"${value.replace(/\.?0{1,6}$/, "")}+00:00"`;
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
 * Returns the texts of the fields that have a digest. These are the erasable columns, and each
 * change under the name "changes.<name>".
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

/** Returns the digest of a field, which is the SHA-256 of its salt and its text. */
export function digestOf(salt: string, text: string): string {
	return hashOf(salt + text);
}

/**
 * Writes an entry as a line of an export. The line begins with the members of the hashed text,
 * followed by `hash`. If the hash covers digests, the fields and their salts follow. The part
 * before `hash` is the hashed text without its closing brace, so a reader can check a line by
 * itself.
 */
export function exportLine(entry: StoredEntry): string {
	const start = `${entryText(entry).slice(0, -1)}, "hash": "${entry.hash}"`;
	if (entry.hash_version === null) return `${start}}`;
	const contents = membersOf(entry, [...ERASABLE_COLUMNS, "changes"]);
	return `${start}, ${contents}, "salts": ${entry.salts}}`;
}
