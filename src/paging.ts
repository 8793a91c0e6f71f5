import type { PoolClient, QueryResultRow } from "pg";
import { z } from "zod";
import { badFields } from "./errors.ts";
import { idSchema } from "./records/field.ts";

/** What a list may be ordered by: an SQL expression, never null, that an index has. */
export interface Order {
	expression: string;
	type: "text" | "date" | "integer" | "timestamptz";
}

/** A column of text, as people sort it: by its generated column `…_key`, without case and accents. */
export const byText = (column: string): Order => ({
	expression: `t.${column}_key`,
	type: "text",
});
/** Records without the date come last in ascending order. */
export const byDate = (column: string): Order => ({
	expression: `coalesce(t.${column}, 'infinity'::date)`,
	type: "date",
});
export const byInteger = (column: string): Order => ({
	expression: `t.${column}`,
	type: "integer",
});
export const byTime = (column: string): Order => ({
	expression: `t.${column}`,
	type: "timestamptz",
});

/** One filter of a list: what a caller gives and what it means for a row `t`. */
export interface Filter {
	schema: z.ZodType;
	/** `parameter` is the placeholder of the value. */
	sql: (parameter: string) => string;
	/** What null means; without it null is not allowed. */
	whenNull?: string;
}

const MAX_WORDS = 8;
const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;

export const organizationId = () =>
	idSchema("organization").describe(
		"Organization to work in; listOrganizations gives the ids",
	);

/** The input that every list has. */
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
		size: z
			.int()
			.min(1)
			.max(MAX_SIZE)
			.optional()
			.describe(`Records a page, ${DEFAULT_SIZE} unless given`),
		cursor: z
			.string()
			.nullable()
			.optional()
			.describe("next_cursor of the page before"),
		order_by: z
			.strictObject({
				field: z
					.enum(Object.keys(orders) as [string, ...string[]])
					.describe("What to order by"),
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
	/** The tool's name: a cursor belongs to one tool. */
	tool: string;
	/** Columns of `t`, as after `select`. */
	columns: string;
	/** As after `from`; has the alias `t` with organization_id, id and search_text. */
	from: string;
	/** The table that find_records may look for words in; without it every row is looked at. */
	searched?: string;
	/** Which rows it is about, `value` being $1; unless given, those of the input's organization. */
	within?: { sql: string; value: unknown };
	orders: Record<string, Order>;
	filters: Record<string, Filter>;
}

export interface Page<Row> {
	rows: Row[];
	next_cursor: string | null;
}

/**
 * One page, by keyset: it costs the same wherever in the list it is, and a record added
 * or removed meanwhile moves no other one. Throws bad_request for a cursor that this list
 * in this order did not give.
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
	const size = input.size ?? DEFAULT_SIZE;

	const within = listing.within ?? {
		sql: "t.organization_id = $1",
		value: input.organization_id,
	};
	const values: unknown[] = [within.value];
	const parameter = (value: unknown) => `$${values.push(value)}`;
	const conditions = [within.sql];
	addFilters(conditions, parameter, listing.filters, input.filter ?? {});
	const words = wordsOf(String(input.filter?.query ?? ""));
	if (words.length > 0) {
		const few =
			listing.searched && (await findFew(client, listing.searched, words));
		if (few) conditions.push(`t.id = any(${parameter(few)})`);
		else conditions.push(...matches(words, parameter));
	}
	const isFiltered = conditions.length > 1;

	const cursorOf = `${listing.tool}.${field}.${direction}`;
	if (typeof input.cursor === "string") {
		const [value, id] = readCursor(input.cursor, cursorOf, order);
		conditions.push(
			`(${order.expression}, t.id) ${direction === "ASC" ? ">" : "<"} (${parameter(value)}::${order.type}, ${parameter(id)})`,
		);
	}
	const text = `
		select ${listing.columns}, (${order.expression})::text as cursor_value
		from ${listing.from}
		where ${conditions.join(" and ")}
		order by ${order.expression} ${direction}, t.id ${direction}
		limit ${parameter(size + 1)}`;
	// Only the few texts without a filter: each prepared one stays in every connection.
	const name = isFiltered
		? {}
		: { name: `${cursorOf}${input.cursor ? ".after" : ""}` };
	const { rows } = await client
		.query<Row & { id: string; cursor_value: string }>({
			...name,
			text,
			values,
		})
		.catch((error) => {
			// A value that its type cannot have: only a cursor made by hand brings one here.
			if (input.cursor && /^22/.test(error.code)) throw badCursor();
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
		else conditions.push(filter.sql(parameter(value)));
	}
}

/** Up to so many records are found by the index on their text; beyond, by walking the list's order. */
const FEW = 1000;

/**
 * The ids of the records that contain all words, if they are few. Rare words are found by
 * the index; of common ones, the next page is soon full when rows are read in order.
 */
async function findFew(
	client: PoolClient,
	table: string,
	words: string[],
): Promise<string[] | undefined> {
	const { rows } = await client.query<{ ids: string[] }>({
		name: "find_records",
		text: "select array(select find_records($1, $2, $3)) as ids",
		values: [table, words, FEW + 1],
	});
	const ids = rows[0]?.ids ?? [];
	return ids.length > FEW ? undefined : ids;
}

/** The words of a query, as they can be asked of the database. */
export function wordsOf(query: string): string[] {
	return storable(query).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

/** Conditions on t.search_text: every word occurs, whatever its case and accents. */
function matches(
	words: string[],
	parameter: (value: unknown) => string,
): string[] {
	return words.map(
		(word) => `t.search_text like search_pattern(${parameter(word)})`,
	);
}

/** What no stored text contains must not reach the database, which would refuse it. */
function storable(text: string): string {
	return text.replaceAll("\0", "\ufffd").toWellFormed();
}

function writeCursor(of: string, value: string, id: string): string {
	return Buffer.from(JSON.stringify([of, value, id])).toString("base64url");
}

function readCursor(
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
	if (!Array.isArray(parts) || parts.length !== 3) throw badCursor();
	const [from, value, id] = parts.map(String) as [string, string, string];
	if (from !== of) {
		throw badFields([
			{
				field: "cursor",
				message:
					"belongs to another list or another order; use it with the tool and the order_by that gave it, or leave it out to begin at the first page",
			},
		]);
	}
	if (value !== storable(value) || !/^[\w-]{32}$/.test(id)) throw badCursor();
	return [order.type === "integer" ? Number(value) : value, id];
}

function badCursor() {
	return badFields([
		{
			field: "cursor",
			message:
				"is none that this list gave; pass next_cursor of the page before unchanged, or leave it out",
		},
	]);
}
