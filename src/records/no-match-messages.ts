import type { PoolClient } from "pg";
import { visibleText } from "../devices/visible-text.ts";
import type { IdKind } from "../id.ts";
import { kindNoun } from "../id.ts";
import type { AnyRecordKind } from "./kind.ts";
import { namedKinds } from "./searchable-kinds.ts";
import { article } from "./text-schemas.ts";

/** Largest number of values that an error lists. */
export const MAX_LISTED = 30;
/** Longest value in an error. A longer one is cut. */
const MAX_SHOWN = 80;

/**
 * Returns a message that no record of the register has the name in a field. The message lists the
 * existing names. Returns undefined if a record has it, in any case, or if the register is empty.
 */
export async function whyNoName(
	client: PoolClient,
	{ table, nouns }: AnyRecordKind,
	field: string,
	organizationId: string,
	value: string,
): Promise<string | undefined> {
	const { rows } = await client.query<{ name: string; is_it: boolean }>(
		`select t.${field} as name, search_fold(t.${field}) = search_fold($2) as is_it
		from ${table} t where t.organization_id = $1 and t.${field} is not null
		group by t.${field}
		order by search_fold(t.${field}) = search_fold($2) desc, count(*) desc, t.${field}
		limit ${MAX_LISTED + 1}`,
		[organizationId, value],
	);
	if (rows.length === 0 || rows[0]?.is_it) return undefined;
	const names = rows.map(({ name }) => name);
	return `no ${nouns} have the ${field} ${quoted(value)}; there are ${listed(names)}`;
}

/**
 * Returns a message that the organization has no record with the id. Returns undefined if it has
 * one.
 */
export async function whyNoReference(
	client: PoolClient,
	kind: IdKind,
	organizationId: string,
	id: string,
): Promise<string | undefined> {
	const named = namedKinds.find((other) => other.kind === kind);
	if (!named) return undefined;
	const { rowCount } = await client.query(
		`select from ${named.table} t where t.organization_id = $1 and t.id = $2`,
		[organizationId, id],
	);
	if (rowCount) return undefined;
	return `is the id of ${article(kindNoun(kind))} that this organization does not have`;
}

/** Lists values in an error, quoted and cut, because people and devices wrote them. */
export function listed(values: readonly string[]): string {
	const shown = values.slice(0, MAX_LISTED).map(quoted).join(", ");
	return values.length > MAX_LISTED ? `${shown} and others` : shown;
}

/** Characters that JSON does not escape although nobody sees them, such as a zero-width space. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Quotes a value in an error, and cuts it if it is long. Leaves out what `visibleText` leaves out,
 * and escapes every other invisible character.
 */
export function quoted(value: string): string {
	const text = visibleText(value);
	const shown =
		text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
	return JSON.stringify(shown.toWellFormed()).replace(
		INVISIBLE,
		(character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
	);
}
