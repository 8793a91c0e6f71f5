import type { FieldIssue } from "../errors.ts";
import type { IdKind } from "../id.ts";
import type { Field } from "./field.ts";
import type { Filter, Order } from "./list-pages.ts";
import type { Due } from "./range-filters.ts";
import type { Values } from "./values.ts";

export type Fields = Record<string, Field>;

/** The definition of a register: its names, its fields, and the orders and filters of its lists. */
export interface RecordKind<
	One extends string = string,
	Many extends string = string,
	Key extends string = string,
	Keys extends string = string,
	F extends Fields = Fields,
> {
	kind: IdKind;
	table: string;
	/** Names in operations: getRisk, listRisks. */
	tool: { one: One; many: Many };
	/** Names in results: {risk: …}, {risks: […]}. */
	key: { one: Key; many: Keys };
	/** Names in sentences: "a risk", "risks". */
	noun: string;
	nouns: string;
	/** Explains to people, in one sentence, what a record of the register is. */
	help: string;
	/** Explains the same to models, so that they choose the right tool. The default is `help`. */
	description?: string;
	/** The field by which people know a record. */
	title: (keyof F & string) | undefined;
	fields: F;
	/** Orders that the lists have in addition to created_at and updated_at. */
	orders: Record<string, Order>;
	/** Fields whose value a list can be filtered by. For a nullable field, null is such a value. */
	filters: readonly (keyof F & string)[];
	otherFilters?: Record<string, Filter>;
	/** Set for records that have a due date. It adds the filters is_open, due_from and due_until. */
	due?: Due;
	/** `NC` makes reference ids such as NC-001. */
	referencePrefix?: string;
	/** Derives the values that the caller did not give on add. */
	complete?: (given: Values) => Values;
	/** Checks the rules that concern several fields of a record. */
	check?: (record: Values) => FieldIssue[];
}

/** The definition of any register, for code that treats all registers alike. */
export type AnyRecordKind = Omit<RecordKind, "title" | "filters"> & {
	title: string | undefined;
	filters: readonly string[];
};

/** Defines a register. Its operations, forms, CSV columns and tests are made from the result. */
export function recordKind<
	const One extends string,
	const Many extends string,
	const Key extends string,
	const Keys extends string,
	F extends Fields,
>(
	definition: RecordKind<One, Many, Key, Keys, F>,
): RecordKind<One, Many, Key, Keys, F> {
	return definition;
}
