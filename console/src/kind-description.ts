import type { FieldType } from "../../src/records/field.ts";
import type { RegisterKind } from "./register-kinds.ts";

/** A kind of record as its pages need it: made from the server's definitions when the console is built. */
export interface KindDescription {
	kind: RegisterKind;
	/** In names of operations: `get${one}`, `list${many}`. */
	tool: { one: string; many: string };
	/** In results: `{risk: …}`, `{risks: […]}`. */
	key: { one: string; many: string };
	noun: string;
	nouns: string;
	/** What a record of the kind is, in a sentence. */
	about: string;
	/** The field that people know it by. */
	title: string | null;
	fields: readonly FieldDescription[];
	filters: readonly FilterDescription[];
	/** What a list may be ordered by, created_at and updated_at included. */
	orders: readonly string[];
}

export interface Choice {
	value: string;
	label: string;
}

interface Described {
	name: string;
	label: string;
	/** Of a choice, and of countries. */
	choices?: readonly Choice[];
	/** The kind of record that it names. */
	reference?: RegisterKind;
	isNullable: boolean;
}

export interface FieldDescription extends Described {
	type: FieldType;
	/** For who fills it in. */
	help: string;
	given: "required" | "optional" | "computed";
	/** What it holds when nothing is given; null: empty, or worked out by the server. */
	initial: string | number | readonly string[] | null;
	maxLength?: number;
	min?: number;
	max?: number;
}

export interface FilterDescription extends Described {
	/**
	 * `score`: a pair of filters, `min_<name>` and `max_<name>`; `due`: the pair `due_from`
	 * and `due_until`.
	 */
	type: FieldType | "flag" | "score" | "due";
}
