import type { Filter, Value } from "./filter.ts";

/** Returns true if an element of a list, such as an e-mail address, matches a filter. */
export function matches(element: object, filter: Filter): boolean {
	switch (filter.kind) {
		case "and":
			return matches(element, filter.left) && matches(element, filter.right);
		case "or":
			return matches(element, filter.left) || matches(element, filter.right);
		case "not":
			return !matches(element, filter.of);
		case "element":
			return false;
		case "compare":
			return compare(memberOf(element, filter.path), filter);
	}
}

/** Reads a member of an object, whatever the case of its name. */
export function memberOf(element: object, name: string): unknown {
	return Object.entries(element).find(
		([key]) => key.toLowerCase() === name,
	)?.[1];
}

function compare(
	found: unknown,
	{ operator, value }: Extract<Filter, { kind: "compare" }>,
): boolean {
	const present = found !== undefined && found !== null && found !== "";
	const right = lower(value);
	// Entra ID writes booleans as text.
	const left =
		typeof found === "boolean" && typeof right === "string"
			? String(found)
			: lower(found as Value | undefined);
	switch (operator) {
		case "pr":
			return present;
		case "eq":
			return left === right;
		case "ne":
			return left !== right;
		default:
			break;
	}
	if (typeof left !== "string" || typeof right !== "string") return false;
	switch (operator) {
		case "co":
			return left.includes(right);
		case "sw":
			return left.startsWith(right);
		case "ew":
			return left.endsWith(right);
		case "gt":
			return left > right;
		case "ge":
			return left >= right;
		case "lt":
			return left < right;
		case "le":
			return left <= right;
	}
}

function lower(value: Value | undefined): Value {
	return typeof value === "string" ? value.toLowerCase() : (value ?? null);
}
