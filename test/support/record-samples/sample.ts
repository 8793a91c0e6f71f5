/**
 * The type of a field, as in the contract's table of record kinds. A question mark means that null
 * is permitted. A list of values is an enum.
 */
type Type =
	| "name"
	| "text"
	| "required text"
	| "url"
	| "email"
	| "start date"
	| "end date"
	| "datetime"
	| "1-5"
	| "amount"
	| "reference id"
	| "people"
	| "framework"
	| "measure"
	| "audit"
	| "vendor"
	| "vendors"
	| "several people"
	| "months"
	| "emails"
	| "names"
	| "countries"
	| "check"
	| "checks"
	| "percent";

export interface Sample {
	kind: string;
	/** The word for one record in the names of operations and in results. */
	one: string;
	many: string;
	key: string;
	keys: string;
	table: string;
	/** True if its records can be linked to others. */
	isLinkable?: true;
	fields: Record<string, Type | `${Type}?` | string[]>;
	required: string[];
	/** The values of a record that was created without giving other fields. */
	defaults: Record<string, unknown>;
	/** Fields that change when another field changes, although the call does not contain them. */
	follows?: Record<string, string>;
	/** The orders of a list, in addition to created_at and updated_at. */
	orders: string[];
	/** The fields by whose value a list can be filtered. */
	filters: string[];
	/** Filters that do not compare with the value of a field. */
	otherFilters?: string[];
	/** The text fields in which a query searches. */
	searched: string[];
}
