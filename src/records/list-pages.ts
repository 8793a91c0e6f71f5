import type { PoolClient, QueryResultRow } from "pg";
import { z } from "zod";
import { badCursor, cursorName, readCursor, writeCursor } from "./cursor.ts";
import { orInfinity } from "./date-or-infinity.ts";
import {
	type Filter,
	rangeCheck,
	rejectImpossible,
	resolveFilters,
} from "./filter.ts";
import { countMatching, totalOf, totalShape } from "./list-count.ts";
import { pageRows } from "./page-rows.ts";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "./page-sizes.ts";
import { described, obvious } from "./shown-in-tool-list.ts";
import {
	type Few,
	findFew,
	isOneOf,
	matchWords,
	type Searched,
	wordsOf,
} from "./text-match.ts";
import { idSchema } from "./text-schemas.ts";

/** An order of a list. The SQL expression is never null, and there is an index on it. */
export interface Order {
	expression: string;
	type: "text" | "date" | "integer" | "timestamptz";
	/** The direction if the caller names none. It puts first the records that people look for. */
	direction: "ASC" | "DESC";
	/**
	 * Returns conditions that follow from the filters, with which the index finds the first row. Without
	 * them, PostgreSQL would read all rows that stand before it.
	 */
	implied?: (
		filter: Record<string, unknown>,
		parameter: (value: unknown) => string,
	) => string[];
}

/**
 * Orders by text as people sort it: case and accents make no difference. The order uses the
 * generated column `…_key`.
 */
export const byText = (column: string): Order => ({
	expression: `t.${column}_key`,
	type: "text",
	direction: "ASC",
});
/**
 * Orders by a date. In ascending order, records without the date come last. `earlier` names a date
 * that a CHECK of the table keeps from being later: what begins in the future also ends there.
 * Without this bound, PostgreSQL would read all records that have ended, before the first one.
 */
export const byDate = (column: string, earlier?: string): Order => {
	const expression = orInfinity(column, "date");
	const implied: Order["implied"] = (filter, parameter) => {
		const from = filter[`${earlier}_from`];
		return from === undefined
			? []
			: [`${expression} >= ${parameter(from)}::date`];
	};
	return {
		expression,
		type: "date",
		direction: "ASC",
		...(earlier && { implied }),
	};
};
/** Orders by a time. In ascending order, records without the time come last. */
export const byDateTime = (column: string): Order => ({
	expression: orInfinity(column, "timestamptz"),
	type: "timestamptz",
	direction: "ASC",
});
export const byInteger = (column: string): Order => ({
	expression: `t.${column}`,
	type: "integer",
	direction: "ASC",
});
/** Orders by a score, the greatest first. */
export const byScore = (column: string): Order => ({
	...byInteger(column),
	direction: "DESC",
});
/** Orders by a time that every record has, such as its creation, the latest first. */
export const byTime = (column: string): Order => ({
	expression: `t.${column}`,
	type: "timestamptz",
	direction: "DESC",
});

/** Longest cursor. The longest value in one is a name of 1,000 characters. */
const MAX_CURSOR = 8_000;

/** Returns the input field for the page size. `records` names the records in its description. */
export const pageSize = (records = "Records") =>
	z
		.int()
		.min(1)
		.max(MAX_PAGE_SIZE)
		.optional()
		.meta(obvious(`${records} a page, ${DEFAULT_PAGE_SIZE} by default`));

/** Returns the input field for the cursor, which says where a page begins. */
export const pageCursor = () =>
	z
		.string()
		.max(MAX_CURSOR, { abort: true })
		.nullable()
		.optional()
		.meta({
			...described("next_cursor of the previous page", "bare"),
			minLength: 1,
		});

/**
 * Returns the input field for the organization. `invoke` fills it in for a caller who has only one
 * organization, so it is missing only if the caller has several.
 */
export const organizationId = () =>
	idSchema(
		"organization",
		"is required, because you have several organizations; listOrganizations returns their ids",
	).meta(obvious("From listOrganizations"));

/** Returns the input fields that every list has. */
export function listInput(
	orders: Record<string, Order>,
	filters: Record<string, Filter>,
	searched = "Words that must all occur in the record's texts",
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
					.meta(obvious("Field to order by")),
				direction: z
					.enum(["ASC", "DESC"])
					.optional()
					.meta(obvious(directionText(orders))),
			})
			.optional()
			.meta(obvious("created_at DESC by default")),
		filter: z
			.strictObject({
				query: z.string().max(200).optional().describe(searched),
				...shape,
			})
			.superRefine(rangeCheck(filters))
			.optional()
			.meta(obvious("Records must match all of these")),
	});
}

/** Returns a sentence about the direction of each order if the caller names none. */
function directionText(orders: Record<string, Order>): string {
	const ascending = Object.entries(orders)
		.filter(([, { direction }]) => direction === "ASC")
		.map(([name]) => name);
	return ascending.length === 0
		? "DESC by default"
		: `By default ASC for ${ascending.join(", ")}, else DESC`;
}

export type ListInput = z.output<ReturnType<typeof listInput>>;

/** Input of a list. The filters besides `query` are those of the listing. */
interface PageInput extends Omit<ListInput, "organization_id" | "filter"> {
	organization_id?: string;
	filter?: { query?: string | undefined; [name: string]: unknown } | undefined;
}

export interface Listing extends Searched {
	/** Name of the operation. A cursor is valid only for the operation that returned it. */
	tool: string;
	/** Columns of `t`, as they are written after `select`. */
	columns: string;
	/** Tells apart the statements of an operation that selects different columns. */
	variant?: string | undefined;
	/** SQL as it is written after `from`. Its alias `t` has organization_id, id and search_text. */
	from: string;
	/**
	 * Condition that selects the rows of the list, with `value` as $1. The default selects the rows
	 * of the input's organization.
	 */
	within?: { sql: string; value: unknown };
	/**
	 * Selection of the rows to which a cursor belongs. The default is the organization, the value of
	 * `within` and the filters. A list gives this if one of these changes between two pages.
	 */
	selected?: unknown;
	/** Condition of the rows that the list shows, such as those in use. By default it shows all. */
	shown?: string;
	orders: Record<string, Order>;
	filters: Record<string, Filter>;
}

export interface Page<Row> {
	rows: Row[];
	next_cursor: string | null;
	total: number;
	total_is_exact: boolean;
}

/** The fields of a result that say where the next page begins and how many records match. */
export const pageShape = {
	next_cursor: z.string().nullable(),
	...totalShape,
};

/**
 * Reads one page. The page begins after the cursor's place and not after a number of rows, so every
 * page of a list costs the same. If a record is added or removed between two pages, the other
 * records do not move. Throws bad_request for a cursor that does not come from this list with this
 * order and filter.
 */
export async function readPage<Row extends QueryResultRow>(
	client: PoolClient,
	listing: Listing,
	input: PageInput,
): Promise<Page<Row>> {
	const field = input.order_by?.field ?? "created_at";
	const order = listing.orders[field];
	if (!order) throw new Error(`${listing.tool} cannot order by ${field}`);
	const direction = input.order_by?.direction ?? order.direction;
	const size = input.size ?? DEFAULT_PAGE_SIZE;

	const within = listing.within ?? {
		sql: "t.organization_id = $1",
		value: input.organization_id,
	};
	const statement = `${listing.tool}.${field}.${direction}`;

	const given = await resolveFilters(
		client,
		listing.filters,
		input.organization_id,
		input.filter ?? {},
	);
	const cursorOf = cursorName(
		statement,
		listing.selected ?? [
			input.organization_id,
			within.value,
			namedValues(listing.filters, input.filter ?? {}, given),
		],
	);
	const after =
		typeof input.cursor === "string"
			? readCursor(input.cursor, cursorOf, order)
			: undefined;

	const { begin, readRows, mayContradict, readContradicting } = pageRows<Row>(
		client,
		listing,
		{ within, given, order, direction, wanted: size + 1, after, statement },
	);

	const words = wordsOf(input.filter?.query ?? "");
	const inWords = await matchWords(client, words, listing);

	/** If the text index found all rows that may match, it need not be asked again for their number. */
	let few: Few | undefined;

	// Later pages repeat the number from their cursor, so a list is counted once.
	let counted = after?.counted;
	const count = async () => {
		counted ??= await countMatching(client, {
			from: listing.from,
			searched: listing.searched,
			shown: listing.shown,
			words,
			inWords,
			few,
			begin: () => begin("start"),
		});
		return counted;
	};

	/** Returns the rows that contain all words of the search text. */
	const findRows = async () => {
		if (words.length === 0) {
			return mayContradict ? readContradicting(await count()) : readRows("");
		}
		if (listing.searched && inWords.textOnly.length > 0) {
			const { values, conditions, name } = begin("cursor");
			few = await findFew(client, listing.searched, inWords, size + 1, {
				name: inWords.isTextOnly ? name(".words") : undefined,
				from: listing.from,
				conditions,
				place: order.expression,
				values,
				direction,
			});
			if (few) {
				const { ids } = few;
				return readRows(
					inWords.isTextOnly ? ".few" : undefined,
					(parameter) => [
						isOneOf(ids, parameter),
						...(inWords.isTextOnly ? [] : inWords.conditions(parameter)),
					],
				);
			}
		}
		return readRows(undefined, inWords.conditions);
	};

	const { rows } = await findRows().catch((error) => {
		// Errors of class 22 mean that a type cannot hold a value. Here only a cursor that somebody
		// wrote by hand causes one.
		if (after && /^22/.test(error.code)) throw badCursor();
		throw error;
	});
	if (rows.length === 0 && !after && input.organization_id !== undefined) {
		await rejectImpossible(client, listing.filters, input);
	}
	const hasMore = rows.length > size;
	const total = counted ?? (hasMore ? await count() : rows.length);
	const page = rows.slice(0, size);
	const last = page.at(-1);
	return {
		rows: page,
		next_cursor:
			hasMore && last
				? writeCursor(cursorOf, {
						value: last.cursor_value,
						id: last.id,
						counted: total,
					})
				: null,
		...totalOf(total),
	};
}

/** Returns the values of the filters by name, each as a cursor belongs to it. */
function namedValues(
	filters: Record<string, Filter>,
	given: Record<string, unknown>,
	resolved: Record<string, unknown>,
): [string, unknown][] {
	return Object.entries(given)
		.filter(([, value]) => value !== undefined)
		.map(([name, value]): [string, unknown] => [
			name,
			filters[name]?.isPinned ? resolved[name] : value,
		])
		.sort(([a], [b]) => (a < b ? -1 : 1));
}
