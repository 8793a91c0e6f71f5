import type { PoolClient, QueryResultRow } from "pg";
import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badCursor, readCursor, writeCursor } from "./cursor.ts";
import { findFew, matches, wordsOf } from "./text-match.ts";
import { idSchema } from "./text-schemas.ts";

/** An order of a list. The SQL expression is never null, and there is an index on it. */
export interface Order {
	expression: string;
	type: "text" | "date" | "integer" | "timestamptz";
}

/**
 * Orders by text as people sort it: case and accents make no difference. The order uses the
 * generated column `…_key`.
 */
export const byText = (column: string): Order => ({
	expression: `t.${column}_key`,
	type: "text",
});
/** Orders by a date. In ascending order, records without the date come last. */
export const byDate = (column: string): Order => ({
	expression: `coalesce(t.${column}, 'infinity'::date)`,
	type: "date",
});
/** Orders by a time. In ascending order, records without the time come last. */
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

/**
 * A filter of a list. It consists of the value that a caller gives and of a condition on a row `t`.
 */
export interface Filter {
	schema: z.ZodType;
	/** Returns the condition. `parameter` is the placeholder of the value. */
	sql: (parameter: string) => string;
	/** The condition if the value is null. Without it, callers may not give null. */
	whenNull?: string;
	/**
	 * The conditions for true and for false. They replace `sql`, so that each of them can use an
	 * index.
	 */
	flag?: { true: string; false: string };
}

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/** Returns the input field for the page size. `records` names the records in its description. */
export const pageSize = (records = "Records") =>
	z
		.int()
		.min(1)
		.max(MAX_PAGE_SIZE)
		.optional()
		.describe(`${records} a page, ${DEFAULT_PAGE_SIZE} unless given`);

/** Returns the input field for the cursor, which says where a page begins. */
export const pageCursor = () =>
	z.string().nullable().optional().describe("next_cursor of the previous page");

export const organizationId = () =>
	idSchema("organization").describe(
		"Organization to work in; listOrganizations returns the ids",
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
			.describe("Only records that match all of these"),
	});
}

export type ListInput = z.output<ReturnType<typeof listInput>>;

export interface Listing {
	/** Name of the operation. A cursor is valid only for the operation that returned it. */
	tool: string;
	/** Columns of `t`, as they are written after `select`. */
	columns: string;
	/** SQL as it is written after `from`. Its alias `t` has organization_id, id and search_text. */
	from: string;
	/**
	 * The table in which find_records searches for words. If it is absent, a search reads every row.
	 */
	searched?: string;
	/**
	 * Condition that selects the rows of the list, with `value` as $1. The default selects the rows
	 * of the input's organization.
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
 * Reads one page. The page begins after the cursor's place and not after a number of rows, so every
 * page of a list costs the same. If a record is added or removed between two pages, the other
 * records do not move. Throws bad_request for a cursor that does not come from this list in this
 * order.
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
	if (!order) throw new Error(`${listing.tool} cannot order by ${field}`);
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

	/** Begins a statement that selects the rows after the cursor that match the filters. */
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
		// Every connection keeps its prepared statements in memory. Therefore only the few statements
		// without a filter have a name.
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

	/** Returns the rows that contain all words of the search text. */
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
			// If the condition used the array directly, PostgreSQL's planner would read the
			// organization's whole index.
			if (few) {
				return readRows(".few", (parameter) => [
					`t.id = any(array(select unnest(${parameter(textArray(few))}::text[])))`,
				]);
			}
		}
		return readRows(undefined, (parameter) => matches(words, parameter));
	};

	const { rows } = await findRows().catch((error) => {
		// Errors of class 22 mean that a type cannot hold a value. Here only a cursor that somebody
		// wrote by hand causes one.
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
