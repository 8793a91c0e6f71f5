import type { FieldType } from "../../src/records/field.ts";
import type { RegisterKind } from "./register-kinds.ts";

/** A register as its pages need it, made from the server's definition when the console is built. */
export interface KindDescription {
	kind: RegisterKind;
	/** Names in operations: `get${one}`, `list${many}`. */
	tool: { one: string; many: string };
	/** Names in results: `{risk: …}`, `{risks: […]}`. */
	key: { one: string; many: string };
	noun: string;
	nouns: string;
	/** Says in a sentence what a record of the register is. */
	help: string;
	/** The field that people know a record by. */
	title: string | null;
	fields: readonly FieldDescription[];
	filters: readonly FilterDescription[];
	/** Names of the orders of a list, with created_at and updated_at. */
	orders: readonly string[];
}

export interface Choice {
	value: string;
	label: string;
}

interface Described {
	name: string;
	label: string;
	/** Set for a choice and for countries. */
	choices?: readonly Choice[];
	/** The register whose records the field names. */
	reference?: RegisterKind;
	isNullable: boolean;
}

export interface FieldDescription extends Described {
	type: FieldType;
	/** Tells the person who fills the field in what it holds. */
	help: string;
	given: "required" | "optional" | "computed";
	/** Value when nothing is given. Null means empty, or derived by the server. */
	initial: string | number | readonly string[] | null;
	maxLength?: number;
	min?: number;
	max?: number;
}

export interface FilterDescription extends Described {
	/**
	 * Three types are pairs of filters. `score`: `min_<name>` and `max_<name>`; `period`:
	 * `<name>_from` and `<name>_until`; `due`: `due_from` and `due_until`.
	 */
	type: FieldType | "flag" | "score" | "period" | "due";
}
