import type { Filter, Value } from "./filter.ts";
import { ScimError } from "./scim-error.ts";

/** How the database knows an attribute that a filter may name. */
export type Attribute =
	/** Text that is compared without regard to case, unless it is EXACT. LOWER is in lower case. */
	| { type: "text"; sql: string; case?: "EXACT" | "LOWER" }
	| { type: "boolean" | "time"; sql: string }
	/**
	 * A list. `from` yields its elements as rows, with the attributes of an element. A filter that
	 * names only the list means the attribute `value`.
	 */
	| { type: "list"; from: string; attributes: Record<string, Attribute> };

/**
 * Writes a filter as a condition in SQL. The values become parameters, which are added to `values`.
 * Throws invalidFilter for an attribute that is not in `attributes`, or a comparison that it does
 * not have.
 */
export function filterSql(
	filter: Filter,
	attributes: Record<string, Attribute>,
	values: unknown[],
): string {
	switch (filter.kind) {
		case "and":
		case "or": {
			const left = filterSql(filter.left, attributes, values);
			const right = filterSql(filter.right, attributes, values);
			return `(${left} ${filter.kind} ${right})`;
		}
		case "not":
			return `(not coalesce(${filterSql(filter.of, attributes, values)}, false))`;
		case "element": {
			const list = attributes[filter.path];
			if (list?.type !== "list") throw unknown(filter.path);
			return inList(list, filter.of, values);
		}
		case "compare":
			return compareSql(filter, attributes, values);
	}
}

function inList(
	{ from, attributes }: Extract<Attribute, { type: "list" }>,
	of: Filter,
	values: unknown[],
): string {
	return `exists (select from ${from} where ${filterSql(of, attributes, values)})`;
}

function compareSql(
	filter: Extract<Filter, { kind: "compare" }>,
	attributes: Record<string, Attribute>,
	values: unknown[],
): string {
	const { path, operator, value } = filter;
	const attribute = attributes[path];
	if (!attribute) {
		const [name = "", sub, ...more] = path.split(".");
		const list = attributes[name];
		if (list?.type !== "list" || !sub || more.length > 0) throw unknown(path);
		return inList(list, { ...filter, path: sub }, values);
	}
	if (attribute.type === "list") {
		return inList(attribute, { ...filter, path: "value" }, values);
	}
	const { sql } = attribute;
	if (operator === "pr") {
		return attribute.type === "text"
			? `(coalesce(${sql}, '') <> '')`
			: `(${sql} is not null)`;
	}
	if (value === null) {
		if (operator === "eq") return `(${sql} is null)`;
		if (operator === "ne") return `(${sql} is not null)`;
		throw wrong(`${path} ${operator} null`);
	}
	const parameter = (one: Value) => `$${values.push(one)}`;
	switch (attribute.type) {
		case "boolean":
			return booleanSql(filter, sql, parameter);
		case "time":
			return timeSql(filter, sql, parameter);
		case "text": {
			if (typeof value !== "string") throw wrong(`${path} with a text`);
			const given = `${parameter(value)}::text`;
			return textSql(
				operator,
				attribute.case ? sql : `lower(${sql})`,
				attribute.case === "EXACT" ? given : `lower(${given})`,
			);
		}
	}
}

function textSql(operator: string, left: string, right: string): string {
	const sql: Record<string, string> = {
		eq: `${left} = ${right}`,
		ne: `${left} is distinct from ${right}`,
		co: `position(${right} in ${left}) > 0`,
		sw: `starts_with(${left}, ${right})`,
		ew: `right(${left}, length(${right})) = ${right}`,
		gt: `${left} collate "C" > ${right}`,
		ge: `${left} collate "C" >= ${right}`,
		lt: `${left} collate "C" < ${right}`,
		le: `${left} collate "C" <= ${right}`,
	};
	return `(${sql[operator]})`;
}

function booleanSql(
	{ path, operator, value }: Extract<Filter, { kind: "compare" }>,
	sql: string,
	parameter: (value: Value) => string,
): string {
	// Entra ID writes booleans as text.
	const text = String(value).toLowerCase();
	const isEqual = operator === "eq";
	if (!/^(true|false)$/.test(text) || !(isEqual || operator === "ne")) {
		throw wrong(`${path} with true or false, and with eq or ne`);
	}
	return `(${sql} is ${isEqual ? "not " : ""}distinct from ${parameter(text === "true")}::boolean)`;
}

const TIME_OPERATORS: Record<string, string> = {
	eq: "=",
	ne: "is distinct from",
	gt: ">",
	ge: ">=",
	lt: "<",
	le: "<=",
};

function timeSql(
	{ path, operator, value }: Extract<Filter, { kind: "compare" }>,
	sql: string,
	parameter: (value: Value) => string,
): string {
	const sign = TIME_OPERATORS[operator];
	const at =
		typeof value === "string" &&
		/^\d{4}-\d\d-\d\dT[\d:.]{5,15}(?:Z|[+-]\d\d:\d\d)?$/.test(value)
			? new Date(value)
			: undefined;
	if (!sign || !at || Number.isNaN(at.getTime())) {
		throw wrong(`${path} with a time such as "2026-01-31T00:00:00Z"`);
	}
	return `(${sql} ${sign} ${parameter(at.toISOString())}::timestamptz)`;
}

function unknown(path: string): ScimError {
	return new ScimError(
		400,
		`filter names ${path.slice(0, 100)}, which cannot be filtered by`,
		"invalidFilter",
	);
}

function wrong(allowed: string): ScimError {
	return new ScimError(
		400,
		`filter must compare ${allowed.slice(0, 200)}`,
		"invalidFilter",
	);
}
