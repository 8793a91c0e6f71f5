import type { z } from "zod";
import type { FieldIssue } from "../errors.ts";
import type { IdKind } from "../id.ts";
import type { Field } from "./field.ts";
import type { Filter } from "./filter.ts";
import type { Order } from "./list-pages.ts";
import type { Due } from "./range-filters.ts";
import type { FindRefused } from "./refused-values.ts";
import type { FindReserved } from "./reserved-updates.ts";
import type { Values } from "./values.ts";

export type Fields = Record<string, Field>;

/** A value in results that is computed when the record is read. */
export interface Derived {
	/** SQL expression about the row `t`. */
	sql: string;
	output: z.ZodType;
	/** True if brief rows have it too. */
	isBrief: boolean;
}

/** A value of a field with choices. */
export interface Chosen {
	field: string;
	value: string;
}

export type DerivedValues = Record<string, Derived>;
export type NoDerived = Record<never, never>;

/** The definition of a register: its names, its fields, and the orders and filters of its list. */
export interface RecordKind<
	One extends string = string,
	Many extends string = string,
	Key extends string = string,
	Keys extends string = string,
	F extends Fields = Fields,
	D extends DerivedValues = DerivedValues,
> {
	kind: IdKind;
	table: string;
	/** Names that its operations contain: getRisk, listRisks. */
	tool: { one: One; many: Many };
	/** Names of properties in results: {risk: …}, {risks: […]}. */
	key: { one: Key; many: Keys };
	/** Names for use in sentences: "a risk", "risks". */
	noun: string;
	nouns: string;
	/** Explains to people, in one sentence, what a record of the register is. */
	help: string;
	/** Explains the same to AI models, so that they choose the right tool. The default is `help`. */
	description?: string;
	/** The field that people know a record by. */
	title: (keyof F & string) | undefined;
	/**
	 * Fields that say what a record with a reference id is about. The first one that is filled in
	 * follows the reference id wherever the record is named.
	 */
	subject?: readonly (keyof F & string)[];
	/**
	 * Fields that tell records of the same name apart where somebody chooses one. By default, these
	 * are the status, the person and the due date.
	 */
	beside?: readonly (keyof F & string)[];
	fields: F;
	/** Fields of a brief row. People decide by them. The first one identifies the record. */
	brief: readonly (keyof F & string)[];
	/**
	 * Further values in results, which follow from other data than the record's own fields. Nobody
	 * can set them, and the audit log does not name them.
	 */
	derived?: D;
	/** Orders of the list, besides created_at and updated_at. */
	orders: Record<string, Order>;
	/**
	 * Fields by whose value the list can be filtered. If a field may be null, the list can also be
	 * filtered by null.
	 */
	filters: readonly (keyof F & string)[];
	otherFilters?: Record<string, Filter>;
	/**
	 * Due date of the records, if they have one. It adds the filters is_open, due_from and due_until,
	 * and the order open_first.
	 */
	due?: Due;
	/**
	 * Further dates, such as the next review. The home page and the weekly mail remind the owner of
	 * them. Each gets a filter.
	 */
	reminders?: readonly (keyof F & string)[];
	/** The choice that a record needs to get a reminder, by the date of the reminder. */
	remindedIf?: Readonly<Record<string, Chosen>>;
	/** True if its records can be linked to other records, to devices and to snapshots. */
	isLinkable?: boolean;
	/** First part of generated reference ids. `NC` makes ids such as NC-001. */
	referencePrefix?: string;
	/** Derives the values that the caller left out when adding a record. */
	complete?: (given: Values) => Values;
	/** Returns further values that follow when somebody gives these to an existing record. */
	follow?: (before: Values, given: Values) => Values;
	/** Says how CSV files write the records, if they do not have the fields as they are. */
	csv?: {
		/** Returns a row of the list as a file has it. */
		write: (row: Values) => Values;
		/** Further choices that a cell may have, by the name of the field. */
		choices: Record<string, readonly string[]>;
		/** Returns the values that a line gives a record. `before` is the existing record. */
		read: (given: Values, before: Values | undefined) => Values;
	};
	/** Checks rules that involve several fields of a record. */
	check?: (record: Values) => FieldIssue[];
	/** Finds the updates that only an administrator may make. */
	reserved?: FindReserved;
	/** Finds the values that nobody may store beside the other records. */
	refused?: FindRefused;
}

/** The definition of any register, for code that treats all registers in the same way. */
export type AnyRecordKind = Omit<
	RecordKind,
	"title" | "subject" | "beside" | "brief" | "filters" | "reminders"
> & {
	title: string | undefined;
	subject?: readonly string[];
	beside?: readonly string[];
	brief: readonly string[];
	filters: readonly string[];
	reminders?: readonly string[];
};

/**
 * Defines a register. Its operations, forms, CSV columns and tests are all made from this
 * definition.
 */
export function recordKind<
	const One extends string,
	const Many extends string,
	const Key extends string,
	const Keys extends string,
	F extends Fields,
	D extends DerivedValues = NoDerived,
>(
	definition: RecordKind<One, Many, Key, Keys, F, D>,
): RecordKind<One, Many, Key, Keys, F, D> {
	return definition;
}

/**
 * Returns a function that makes something from the definition of a register when it is first asked
 * for, and then keeps it.
 */
export function oncePerKind<Made>(
	make: (kind: AnyRecordKind) => Made,
): (kind: AnyRecordKind) => Made {
	const kept = new WeakMap<AnyRecordKind, Made>();
	return (kind) => {
		const found = kept.get(kind);
		if (found !== undefined) return found;
		const made = make(kind);
		kept.set(kind, made);
		return made;
	};
}

/**
 * Returns the toolset of a register from its plural name: `ContinualImprovements` →
 * `continual_improvements`.
 */
export function toolsetOf({ tool }: Pick<AnyRecordKind, "tool">): string {
	return tool.many
		.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`)
		.toLowerCase();
}
