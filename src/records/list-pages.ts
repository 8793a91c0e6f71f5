import type { PoolClient, QueryResultRow } from "pg";
import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badCursor, readCursor, writeCursor } from "./cursor.ts";
import { findFew, matches, wordsOf } from "./text-match.ts";
import { idSchema } from "./text-schemas.ts";

/** One order of a list: an SQL expression that is never null and has an index. */
export interface Order {
	expression: string;
	type: "text" | "date" | "integer" | "timestamptz";
}

/**
 * Orders by text as people sort it, ignoring case and accents. Uses the generated column `…_key`.
 */
export const byText = (column: string): Order => ({
	expression: `t.${column}_key`,
	type: "text",
});
/** Orders by a date. Records without the date come last in ascending order. */
export const byDate = (column: string): Order => ({
	expression: `coalesce(t.${column}, 'infinity'::date)`,
	type: "date",
});
/** Orders by a time. Records without the time come last in ascending order. */
export const byDateTime = (column: string): Order => ({
	expression: `coalesce(t.${column}, 'infinity'::timestamptz)`,
	type: "timestamptz",
});
export const byInteger = (column: string): Order => ({
	expression: `t.${column}`,
	type: "integer",
});
/** Orders by a time that every record has. */
export const byTime = (column: string): Order => ({
	expression: `t.${column}`,
	type: "timestamptz",
});

/** One filter of a list: the value that a caller gives, and the condition on a row `t`. */
export interface Filter {
	schema: z.ZodType;
	/** Returns the condition; `parameter` is the placeholder of the value. */
	sql: (parameter: string) => string;
	/** The condition for null. Without it, null is not allowed. */
	whenNull?: string;
	/** The conditions for true and false, used instead of `sql`, so that each can use an index. */
	flag?: { true: string; false: string };
}

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/** Returns the input field for the number of `records` on a page. */
export const pageSize = (records = "Records") =>
	z
		.int()
		.min(1)
		.max(MAX_PAGE_SIZE)
		.optional()
		.describe(`${records} a page, ${DEFAULT_PAGE_SIZE} unless given`);

/** Returns the input field for the place where a page begins. */
export const pageCursor = () =>
	z.string().nullable().optional().describe("next_cursor of the previous page");

export const organizationId = () =>
	idSchema("organization").describe(
		"Organization to work in; listOrganizations gives the ids",
	);

/** Returns the input fields that every list has. */
export function listInput(
	orders: Record<string, Order>,
	filters: Record<string, Filter>,
) {
	const shape = Object.fromEntries(
		Object.entries(filters).map(([name, { schema }]) => [
			name,
			schema.optional(),
		]),
	);
	return z.strictObject({
		organization_id: organizationId(),
		size: pageSize(),
		cursor: pageCursor(),
		order_by: z
			.strictObject({
				field: z
					.enum(Object.keys(orders) as [string, ...string[]])
					.describe("Field to order by"),
				direction: z
					.enum(["ASC", "DESC"])
					.optional()
					.describe("ASC unless given"),
			})
			.optional()
			.describe("created_at DESC unless given"),
		filter: z
			.strictObject({
				query: z
					.string()
					.max(200)
					.optional()
					.describe("Words that must all occur in the record's text"),
				...shape,
			})
			.optional()
			.describe("Only records that meet all of these"),
	});
}

export type ListInput = z.output<ReturnType<typeof listInput>>;

export interface Listing {
	/** Name of the operation. A cursor belongs to one operation. */
	tool: string;
	/** Columns of `t`, as written after `select`. */
	columns: string;
	/** The SQL after `from`. Its alias `t` has organization_id, id and search_text. */
	from: string;
	/** The table in which find_records searches for words. Without it, a search reads every row. */
	searched?: string;
	/**
	 * Selects the rows to list, with `value` as $1. The default is those of the input's organization.
	 */
	within?: { sql: string; value: unknown };
	orders: Record<string, Order>;
	filters: Record<string, Filter>;
}

export interface Page<Row> {
	rows: Row[];
	next_cursor: string | null;
}

/**
 * Reads one page by keyset, so each page of a list costs the same. Adding or removing a record
 * meanwhile does not move the others. Throws bad_request for a cursor that does not come from this
 * list in this order.
 */
export async function readPage<Row extends QueryResultRow>(
	client: PoolClient,
	listing: Listing,
	input: Omit<ListInput, "organization_id"> & { organization_id?: string },
): Promise<Page<Row>> {
	const field = input.order_by?.field ?? "created_at";
	const direction = input.order_by
		? (input.order_by.direction ?? "ASC")
		: "DESC";
	const order = listing.orders[field];
	if (!order) throw new Error(`${listing.tool} has no order ${field}`);
	const size = input.size ?? DEFAULT_PAGE_SIZE;

	const within = listing.within ?? {
		sql: "t.organization_id = $1",
		value: input.organization_id,
	};
	const cursorOf = `${listing.tool}.${field}.${direction}`;
	const after =
		typeof input.cursor === "string"
			? readCursor(input.cursor, cursorOf, order)
			: undefined;
	const sorted = `order by ${order.expression} ${direction}, t.id ${direction}`;

	/**
	 * Returns the beginning of a statement that selects the rows after the cursor that meet the
	 * filters.
	 */
	const begin = () => {
		const values: unknown[] = [within.value];
		const parameter = (value: unknown) => `$${values.push(value)}`;
		const conditions = [within.sql];
		addFilters(conditions, parameter, listing.filters, input.filter ?? {});
		if (after) {
			conditions.push(
				`(${order.expression}, t.id) ${direction === "ASC" ? ">" : "<"} (${parameter(after[0])}::${order.type}, ${parameter(after[1])})`,
			);
		}
		// Every connection keeps its prepared statements, so only the few statements without a filter
		// have a name.
		const isPlain = conditions.length === (after ? 2 : 1);
		const name = (kind: string) =>
			isPlain ? `${cursorOf}${after ? ".after" : ""}${kind}` : undefined;
		return { values, parameter, conditions, name };
	};

	const readRows = (kind?: string, further?: Conditions) => {
		const { values, parameter, conditions, name } = begin();
		if (further) conditions.push(...further(parameter));
		return client.query<Row & { id: string; cursor_value: string }>({
			name: kind === undefined ? undefined : name(kind),
			text: `
				select ${listing.columns}, (${order.expression})::text as cursor_value
				from ${listing.from}
				where ${conditions.join(" and ")}
				${sorted}
				limit ${parameter(size + 1)}`,
			values,
		});
	};

	/** Returns the rows that contain the words of the query. */
	const findRows = async () => {
		const words = wordsOf(input.filter?.query ?? "");
		if (words.length === 0) return readRows("");
		if (listing.searched) {
			const { values, conditions, name } = begin();
			const few = await findFew(client, listing.searched, words, size + 1, {
				name: name(".words"),
				text: `
					select t.id, ${order.expression} as place, t.search_text
					from ${listing.from}
					where ${conditions.join(" and ")}
					${sorted}`,
				values,
				direction,
			});
			// With a plain array, the planner would read the organization's whole index.
			if (few) {
				return readRows(".few", (parameter) => [
					`t.id = any(array(select unnest(${parameter(textArray(few))}::text[])))`,
				]);
			}
		}
		return readRows(undefined, (parameter) => matches(words, parameter));
	};

	const { rows } = await findRows().catch((error) => {
		// Class 22 means that a type cannot hold a value. Only a cursor made by hand causes it.
		if (after && /^22/.test(error.code)) throw badCursor();
		throw error;
	});
	const page = rows.slice(0, size);
	const last = page.at(-1);
	return {
		rows: page,
		next_cursor:
			rows.length > size && last
				? writeCursor(cursorOf, last.cursor_value, last.id)
				: null,
	};
}

type Conditions = (parameter: (value: unknown) => string) => string[];

function addFilters(
	conditions: string[],
	parameter: (value: unknown) => string,
	filters: Record<string, Filter>,
	given: Record<string, unknown>,
): void {
	for (const [name, value] of Object.entries(given)) {
		if (value === undefined) continue;
		const filter = filters[name];
		if (!filter) continue;
		if (value === null) conditions.push(filter.whenNull ?? "false");
		else if (filter.flag)
			conditions.push(filter.flag[value ? "true" : "false"]);
		else conditions.push(filter.sql(parameter(value)));
	}
}
