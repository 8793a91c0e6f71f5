import type { PoolClient, QueryResult, QueryResultRow } from "pg";
import { addFilters } from "./filter.ts";
import { COUNTED, type Matching } from "./list-count.ts";
import type { Listing, Order } from "./list-pages.ts";
import type { Conditions } from "./text-match.ts";

/** The page of a list that its statements read. */
export interface PageAsked {
	within: { sql: string; value: unknown };
	/** The values of the filters. */
	given: Record<string, unknown>;
	order: Order;
	direction: "ASC" | "DESC";
	/** Number of rows to read: one more than the page has. */
	wanted: number;
	/** The place after which the page begins. */
	after: { value: string | number; id: string } | undefined;
	/** Name of the list and its order, from which the names of prepared statements are made. */
	statement: string;
}

type Rows<Row extends QueryResultRow> = Promise<
	QueryResult<Row & { id: string; cursor_value: string }>
>;

/**
 * Rows of the order that a page looks up before it sorts all matching records. For each of its
 * rows, it is this share of the matching records. A page of 20 looks up about half as many as
 * match. That fills the page if the matching records are spread evenly over the order.
 */
const WALKED_SHARE = 1 / 40;

/** Makes the statements that read and count the rows of a list. */
export function pageRows<Row extends QueryResultRow>(
	client: PoolClient,
	listing: Listing,
	{ within, given, order, direction, wanted, after, statement }: PageAsked,
) {
	const { columns, from, filters } = listing;
	const place = order.expression;
	const isOfOrder = (name: string) => {
		const column = filters[name]?.bound?.of;
		return (
			column !== undefined && new RegExp(`\\bt\\.${column}\\b`).test(place)
		);
	};
	const isInIndex = (name: string) =>
		filters[name]?.isInOrders || isOfOrder(name);
	const names = Object.keys(given).filter((name) => given[name] !== undefined);
	const pick = (picked: string[]) =>
		Object.fromEntries(picked.map((name) => [name, given[name]]));

	/** Begins a statement that selects the rows that match some of the filters, by default all. */
	const begin = (
		begins: "start" | "cursor",
		some: Record<string, unknown> = given,
	): Matching => {
		const values: unknown[] = [within.value];
		const parameter = (value: unknown) => `$${values.push(value)}`;
		const conditions = [within.sql];
		const purpose = begins === "start" ? "count" : "rows";
		addFilters(conditions, parameter, filters, some, purpose);
		// Every connection keeps its prepared statements in memory. Therefore only the few statements
		// without a filter have a name.
		const isPlain = conditions.length === 1;
		const isAfter = after !== undefined && begins === "cursor";
		if (begins === "cursor") {
			conditions.push(...(order.implied?.(given, parameter) ?? []));
			if (listing.shown) conditions.push(listing.shown);
		}
		if (isAfter) {
			conditions.push(
				`(${place}, t.id) ${direction === "ASC" ? ">" : "<"} (${parameter(after.value)}::${order.type}, ${parameter(after.id)})`,
			);
		}
		const name = (kind: string) =>
			isPlain ? `${statement}${isAfter ? ".after" : ""}${kind}` : undefined;
		return { values, parameter, conditions, name };
	};

	const sorted = `order by ${place} ${direction}, t.id ${direction}`;

	/** Reads the rows that match the filters and further conditions, in the order. */
	const readRows = (kind?: string, further?: Conditions): Rows<Row> => {
		const { values, parameter, conditions, name } = begin("cursor");
		if (further) conditions.push(...further(parameter));
		return client.query({
			name:
				kind === undefined ? undefined : name(kind + (listing.variant ?? "")),
			text: `
				select ${columns}, (${place})::text as cursor_value
				from ${from}
				where ${conditions.join(" and ")}
				${sorted}
				limit ${parameter(wanted)}`,
			values,
		});
	};

	/** Reads the matching ones of the next `most` rows of the order. */
	const walk = (most: number): Rows<Row> => {
		const { values, parameter, conditions } = begin(
			"cursor",
			pick(names.filter(isInIndex)),
		);
		const inside = `
			select t.*, ${place} as place from ${from}
			where ${conditions.join(" and ")}
			${sorted}
			limit ${parameter(most)}`;
		const outside: string[] = [];
		const others = names.filter((name) => !isInIndex(name));
		addFilters(outside, parameter, filters, pick(others));
		return client.query({
			text: `
				select ${columns}, t.place::text as cursor_value
				from (${inside}) t
				where ${outside.join(" and ")}
				order by t.place ${direction}, t.id ${direction}
				limit ${parameter(wanted)}`,
			values,
		});
	};

	/**
	 * Sorts all rows that match, and reads the first ones. The index of a date has all other dates, the
	 * choices and created_at, so it mostly gives what is sorted.
	 */
	const sort = (): Rows<Row> => {
		const { values, parameter, conditions } = begin("cursor");
		const limit = parameter(wanted);
		// With the offset, PostgreSQL does not walk the order's index.
		const text = `
			select ${columns}, (${place})::text as cursor_value
			from ${from}
			where ${within.sql} and t.id = any(array(
				select m.id from (
					select t.id, ${place} as place from ${from}
					where ${conditions.join(" and ")}
					offset 0
				) m
				order by m.place ${direction}, m.id ${direction}
				limit ${limit}
			))
			${sorted}`;
		return client.query({ text, values });
	};

	/**
	 * True if the list has a range of something else than its order. PostgreSQL expects the matching
	 * rows everywhere in the order. Dates often contradict each other: what begins in the future also
	 * ends there, so PostgreSQL would look up all that has ended, before the first match.
	 */
	const mayContradict =
		listing.searched !== undefined &&
		names.some((name) => filters[name]?.bound && !isOfOrder(name));

	/**
	 * Reads the rows of a list whose filter may contradict its order. `counted` is the number of
	 * records that match, at most one more than COUNTED. If the next rows of the order do not fill the
	 * page, all matching rows are sorted.
	 */
	const readContradicting = async (counted: number): Rows<Row> => {
		// Somebody may have written a greater number into a cursor.
		const matching = Math.min(counted, COUNTED + 1);
		const most = Math.ceil(matching * wanted * WALKED_SHARE);
		const walked = counted < wanted ? undefined : await walk(most);
		return walked?.rows.length === wanted ? walked : sort();
	};

	return { begin, readRows, mayContradict, readContradicting };
}
