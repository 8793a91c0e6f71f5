import type { FieldType } from "../../src/records/field.ts";
import type { RegisterKind } from "./register-kinds.ts";

/** A register as its pages need it. The console's build makes it from the server's definition. */
export interface KindDescription {
	kind: RegisterKind;
	/** Parts of the operations' names: `get${one}` and `list${many}`. */
	tool: { one: string; many: string };
	/** Names of the records in results: `{risk: …}` and `{risks: […]}`. */
	key: { one: string; many: string };
	noun: string;
	nouns: string;
	/** One sentence that says what a record of the register is. */
	help: string;
	/** The field by which people recognize a record. */
	title: string | null;
	/** The definition's `subject`: the first field that is filled in follows the title. */
	subject: readonly string[];
	/** The fields that tell records of the same name apart, the most telling first. */
	beside: readonly string[];
	/** True if its records can be linked to others. */
	isLinkable: boolean;
	fields: readonly FieldDescription[];
	filters: readonly FilterDescription[];
	/** The field and the value of a record of work that is done. Null if records have no due date. */
	done: { field: string; value: string } | null;
	/** The choice that a record needs to get a reminder, by the date of the reminder. */
	remindedIf: Readonly<Record<string, { field: string; value: string }>>;
	/** The names of the orders that a list can have, in addition to created_at and updated_at. */
	orders: readonly string[];
}

export interface Choice {
	value: string;
	label: string;
}

interface Described {
	name: string;
	label: string;
	/**
	 * The choices of a field. Set only for a choice, for countries, and for a flag whose value is
	 * another than true.
	 */
	choices?: readonly Choice[];
	/** The register whose records this field refers to. */
	reference?: RegisterKind;
	isNullable: boolean;
}

export interface FieldDescription extends Described {
	type: FieldType;
	/** Explains to the person who fills in the form what this field holds. */
	help: string;
	given: "required" | "optional" | "computed";
	/**
	 * The value if none is given. Null means that the field is then empty or that the server derives
	 * it.
	 */
	initial: string | number | readonly string[] | null;
	maxLength?: number;
	min?: number;
	max?: number;
}

export interface FilterDescription extends Described {
	/**
	 * The type of the value. Four types stand for two filters that form a range: `score` for
	 * `min_<name>` and `max_<name>`, `period` and `reminder` for `<name>_from` and `<name>_until`,
	 * and `due` for `due_from` and `due_until`.
	 */
	type: FieldType | "flag" | "score" | "period" | "due" | "reminder";
}
