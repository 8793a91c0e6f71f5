import { kinds } from "virtual:kinds";
import { recordName } from "../../src/records/record-name.ts";
import { NOT_DECIDED } from "../../src/starters/undecided.ts";
import type { OperationName, OutputOf } from "./api.ts";
import type { FieldDescription, KindDescription } from "./kind-description.ts";
import type { RegisterKind } from "./register-kinds.ts";

type Pascal<Name extends string> = Name extends `${infer First}_${infer Rest}`
	? `${Capitalize<First>}${Pascal<Rest>}`
	: Capitalize<Name>;
type Get<Kind extends RegisterKind> = `get${Pascal<Kind>}` & OperationName;

/** A record of this kind as the server returns it. */
export type RecordOf<Kind extends RegisterKind> =
	OutputOf<Get<Kind>> extends Record<Kind, infer One> ? One : never;
/**
 * The names of a kind's fields. If a field is renamed, the type check finds every page that uses
 * its old name.
 */
export type FieldName<Kind extends RegisterKind> = keyof RecordOf<Kind> &
	string;

/** A record of any kind, for pages that serve all kinds. */
export interface AnyRecord {
	id: string;
	organization_id: string;
	created_at: string;
	updated_at: string;
	[field: string]: unknown;
}

const byKind = new Map(kinds.map((known) => [known.kind, known]));

export { kinds };

export function describeKind(kind: RegisterKind): KindDescription {
	const found = byKind.get(kind);
	if (!found) throw new Error(`there is no kind of record ${kind}`);
	return found;
}

export function fieldOf(
	kind: KindDescription,
	name: string,
): FieldDescription | undefined {
	return kind.fields.find((field) => field.name === name);
}

/** Returns the filter that a list by the date of a reminder also needs, such as `{state: "COMPLETED"}`. */
export function reminderFilter(
	{ remindedIf }: KindDescription,
	date: string,
): Record<string, string> {
	const only = remindedIf[date];
	return only ? { [only.field]: only.value } : {};
}

/**
 * Returns the label of a choice such as `PARTIALLY_COMPLIANT`. Returns an unknown code unchanged.
 */
export function choiceLabel(
	{ choices }: Pick<FieldDescription, "choices">,
	value: string,
): string {
	// It is no choice of the field, because nobody can give it.
	if (value === NOT_DECIDED) return "Not decided";
	return choices?.find((choice) => choice.value === value)?.label ?? value;
}

const MAX_TITLE = 120;

/** Returns the text by which people recognize a record. */
export function fullTitleOf(kind: KindDescription, record: AnyRecord): string {
	const title = recordName({ ...kind, title: kind.title ?? undefined }, record);
	return title === null || title.trim() === "" ? `Unnamed ${kind.noun}` : title;
}

/** Returns the text by which people recognize a record. Cuts off a long text. */
export function titleOf(kind: KindDescription, record: AnyRecord): string {
	const title = fullTitleOf(kind, record);
	return title.length > MAX_TITLE
		? `${title.slice(0, MAX_TITLE).trimEnd()}…`
		: title;
}

/** Returns, for example, "1 risk" or "2,000 risks". */
export const countOf = ({ noun, nouns }: KindDescription, count: number) =>
	`${count.toLocaleString()} ${count === 1 ? noun : nouns}`;

/** Says that there is no record of a kind. Some kinds, such as evidence, have no plural. */
export const noneYet = ({ noun, nouns }: KindDescription) =>
	noun.endsWith(` ${nouns}`)
		? `There is no ${nouns} yet`
		: `There are no ${nouns} yet`;
