import { hash } from "node:crypto";
import { badFields } from "../errors.ts";
import type { Order } from "./list-pages.ts";
import { storable } from "./text-match.ts";

/** The place of a page's last record in its list, and the number of records in the list. */
export interface Place {
	value: string;
	id: string;
	counted: number;
}

/**
 * Returns the name that a cursor has for its list. `order` names the list and its order. `selected`
 * is what selects the records, such as the organization and the filters. It is hashed, because a
 * cursor must stay short.
 */
export function cursorName(order: string, selected: unknown): string {
	const digest = hash("sha256", JSON.stringify(selected), "base64url");
	return `${order}#${digest.slice(0, 16)}`;
}

/** Throws bad_request if a cursor comes from another list than the one it is used for. */
export function requireSameList(from: string, of: string): void {
	if (from === of) return;
	const [order] = of.split("#", 1);
	const isSameOrder = from.split("#", 1)[0] === order;
	throw badFields([
		{
			field: "cursor",
			message: isSameOrder
				? "belongs to another filter or organization; use it with the input that returned it, or omit it to start at the first page"
				: "belongs to another list or another order; use it with the tool and the order_by that returned it, or omit it to start at the first page",
		},
	]);
}

/**
 * Returns a cursor. It contains the list and order that it belongs to, and the place of the page's
 * last record.
 */
export function writeCursor(of: string, { value, id, counted }: Place): string {
	return Buffer.from(JSON.stringify([of, value, id, counted])).toString(
		"base64url",
	);
}

/**
 * Returns the place that a cursor contains. Throws bad_request if the text is not a cursor of this
 * list, order and filter.
 */
export function readCursor(
	text: string,
	of: string,
	order: Order,
): Omit<Place, "value"> & { value: string | number } {
	let parts: unknown;
	try {
		parts = JSON.parse(Buffer.from(text, "base64url").toString());
	} catch {
		throw badCursor();
	}
	if (!isPlace(parts)) throw badCursor();
	const [from, value, id, counted] = parts;
	requireSameList(from, of);
	if (value !== storable(value) || !/^[\w-]{32}$/.test(id)) throw badCursor();
	return {
		value: order.type === "integer" ? Number(value) : value,
		id,
		counted,
	};
}

function isPlace(parts: unknown): parts is [string, string, string, number] {
	return (
		Array.isArray(parts) &&
		parts.length === 4 &&
		parts.slice(0, 3).every((part) => typeof part === "string") &&
		isCount(parts[3])
	);
}

/** True for a number of records, as a cursor has it. */
export function isCount(value: unknown): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function badCursor() {
	return badFields([
		{
			field: "cursor",
			message:
				"is not a cursor of this list; pass next_cursor of the previous page unchanged, or omit it to start at the first page",
		},
	]);
}
