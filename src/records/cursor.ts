import { badFields } from "../errors.ts";
import type { Order } from "./list-pages.ts";
import { storable } from "./text-match.ts";

/**
 * Returns a cursor. It contains the list and order that it belongs to, and the place of the page's
 * last record.
 */
export function writeCursor(of: string, value: string, id: string): string {
	return Buffer.from(JSON.stringify([of, value, id])).toString("base64url");
}

/**
 * Returns the place that a cursor contains. Throws bad_request if the text is not a cursor of this
 * list and order.
 */
export function readCursor(
	text: string,
	of: string,
	order: Order,
): [string | number, string] {
	let parts: unknown;
	try {
		parts = JSON.parse(Buffer.from(text, "base64url").toString());
	} catch {
		throw badCursor();
	}
	if (!isPlace(parts)) throw badCursor();
	const [from, value, id] = parts;
	if (from !== of) {
		throw badFields([
			{
				field: "cursor",
				message:
					"belongs to another list or another order; use it with the tool and the order_by that returned it, or omit it to start at the first page",
			},
		]);
	}
	if (value !== storable(value) || !/^[\w-]{32}$/.test(id)) throw badCursor();
	return [order.type === "integer" ? Number(value) : value, id];
}

function isPlace(parts: unknown): parts is [string, string, string] {
	return (
		Array.isArray(parts) &&
		parts.length === 3 &&
		parts.every((part) => typeof part === "string")
	);
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
