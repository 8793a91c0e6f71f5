import {
	type HistoryState,
	useLocation,
	useMatch,
	useRouterState,
	useSearch,
} from "@tanstack/react-router";
import { useMemo } from "react";
import {
	DEFAULT_PAGE_SIZE,
	MAX_PAGE_SIZE,
} from "../../src/records/page-sizes.ts";
import { useChangeSearch } from "./change-search.ts";
import { dayShown } from "./past.ts";
import type { ListOrder } from "./register-orders.ts";
import { type FilterValue, toDates } from "./relative-filters.ts";
import { rememberColumns, rememberedColumns } from "./remembered-columns.ts";

/** The parameters of a list in the address. All parameters that are not named here are filters. */
export interface ListSearch {
	/** Words that a record must contain. */
	q?: string;
	sort?: string;
	dir?: "asc" | "desc";
	/** The cursor of the page. Absent on the first page. */
	cursor?: string;
	/**
	 * The day for which the relative filters stood when the service returned the cursor. A cursor
	 * belongs to its filters, so the next page must have the same dates after midnight too.
	 */
	day?: string;
	/** The number of rows on a page. */
	size?: number;
	/** The number of the audit entry that is open. */
	entry?: number;
	/** The ids of the columns, separated by commas. Absent if the list has its usual columns. */
	cols?: string;
	/** The id of the saved view that was opened. */
	view?: string;
	[filter: string]: FilterValue | undefined;
}

declare module "@tanstack/react-router" {
	interface HistoryState {
		/**
		 * The cursors of the pages before this one, the first page's being null. Absent if the reader
		 * came to the page by an address and not through the pages before it.
		 */
		earlierPages?: (string | null)[];
	}
}

const NOT_FILTERS = new Set([
	"q",
	"sort",
	"dir",
	"cursor",
	"day",
	"size",
	"entry",
	"cols",
	"view",
	"as_of",
]);
/** The filters that may have several values. The control of any other filter shows only one. */
const TAKE_SEVERAL = new Set(["check_state"]);
/** Parameters that are no part of a saved view. */
const NOT_IN_VIEWS = new Set(["cursor", "day", "entry", "view", "as_of"]);
/** Numbers of rows that a page of a list may have. */
export const SIZES = [DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE / 2, MAX_PAGE_SIZE];
const NO_PAGES: (string | null)[] = [];

/** Reads the parameters that a list can use from an address, and drops the others. */
export function parseListSearch(raw: Record<string, unknown>): ListSearch {
	const search: ListSearch = {};
	for (const [name, value] of Object.entries(raw)) {
		if (NOT_FILTERS.has(name)) continue;
		if (
			value === null ||
			["string", "number", "boolean"].includes(typeof value) ||
			(TAKE_SEVERAL.has(name) && isTexts(value))
		) {
			search[name] = value as FilterValue;
		}
	}
	const { q, sort, dir, cursor, day, size, entry, cols, view } = raw;
	// If somebody typed the address by hand, a word such as 2024 has been parsed as a number.
	if (typeof q === "number") search.q = String(q);
	if (typeof q === "string" && q !== "") search.q = q;
	if (typeof sort === "string") search.sort = sort;
	if (dir === "asc" || dir === "desc") search.dir = dir;
	if (typeof cursor === "string") {
		search.cursor = cursor;
		if (isDay(day)) search.day = day;
	}
	if (typeof size === "number" && SIZES.includes(size)) search.size = size;
	if (typeof entry === "number") search.entry = entry;
	if (typeof cols === "string") search.cols = cols;
	if (typeof view === "string") search.view = view;
	return search;
}

const isDay = (value: unknown): value is string =>
	typeof value === "string" &&
	/^\d{4}-\d\d-\d\d$/.test(value) &&
	!Number.isNaN(Date.parse(value));

const isTexts = (value: unknown): value is string[] =>
	Array.isArray(value) && value.every((one) => typeof one === "string");

/** Returns the parameters that a saved view keeps. */
export function viewOf(search: ListSearch): ViewSearch {
	return Object.fromEntries(
		Object.entries(search).flatMap(([name, value]) =>
			NOT_IN_VIEWS.has(name) || value === undefined ? [] : [[name, value]],
		),
	);
}

export type ViewSearch = Record<string, FilterValue>;
type Filters = Record<string, FilterValue>;

/**
 * Returns the list that the address describes, as the input of an operation, together with
 * functions that change the address. Every change goes to the first page. With the browser's back
 * button, the user returns to the previous page. `usualOrderOf` returns the order for the filters if
 * the address names none. Without it, the operation chooses.
 */
export function useListSearch(
	usualOrderOf?: (filters: Filters) => ListOrder | undefined,
) {
	const search: ListSearch = useSearch({ strict: false });
	const filters = Object.fromEntries(
		Object.entries(search).filter(
			([name, value]) => !NOT_FILTERS.has(name) && value !== undefined,
		),
	) as Filters;
	const usualOrder = usualOrderOf?.(filters);
	const order: ListOrder | undefined = search.sort
		? { field: search.sort, direction: search.dir ?? "asc" }
		: usualOrder;
	const changeSearch = useChangeSearch();
	const path = useLocation({ select: ({ pathname }) => pathname });
	// While the next page loads, the address is that of the next page already.
	const shownAt = useMatch({
		strict: false,
		select: ({ pathname }) => pathname,
	});
	const earlier = useRouterState({
		select: ({ location }) =>
			search.cursor ? location.state.earlierPages : NO_PAGES,
	});
	const change = (
		changes: Record<string, FilterValue | undefined>,
		{ replace = false } = {},
	) =>
		changeSearch(
			(before: ListSearch) =>
				withoutAbsent({
					...before,
					cursor: undefined,
					day: undefined,
					...changes,
				}),
			{ replace },
		);

	const day = search.day ?? dayShown();
	const dated = toDates(filters, day);
	const isRelative = Object.keys(dated).some((name) => !(name in filters));

	/** Goes to a page of the same list and shows its first rows. */
	const goTo = async (cursor: string | null, state: HistoryState) => {
		await changeSearch(
			(before: ListSearch) =>
				withoutAbsent({
					...before,
					cursor: cursor ?? undefined,
					day: cursor && isRelative ? day : undefined,
				}),
			{ state },
		);
		window.scrollTo({ top: 0 });
	};

	/** Changes the open entry in the address and stays on the same page of the list. */
	const openEntry = (entry: number | undefined) =>
		changeSearch((before: ListSearch) => withoutAbsent({ ...before, entry }), {
			state: true,
		});

	const filter = {
		...dated,
		...(search.q ? { query: search.q } : {}),
	};
	const hasFilters = Object.keys(filter).length > 0;

	const columns = search.cols?.split(",") ?? rememberedColumns(path);
	const known = JSON.stringify([
		shownAt,
		search,
		earlier,
		usualOrder,
		columns,
		day,
	]);
	// The same object as long as it says the same, so that its controls need not render again.
	// biome-ignore lint/correctness/useExhaustiveDependencies: everything follows from these values.
	return useMemo(
		() => ({
			/** The path of the page. */
			path,
			search,
			/** The cursors of the pages before this one, or undefined if they are not known. */
			earlierPages: earlier,
			/** The order of the rows, or undefined if the operation chose it. */
			order,
			/** The order without a choice in the address, or undefined if the operation chooses it. */
			usualOrder,
			/** The filters without the search words. */
			filters,
			hasFilters,
			/** The values that a page spreads into the input of a list operation. */
			input: {
				...(search.size ? { size: search.size } : {}),
				...(search.cursor ? { cursor: search.cursor } : {}),
				...(order && {
					order_by: {
						field: order.field,
						direction: order.direction === "desc" ? "DESC" : "ASC",
					} as const,
				}),
				...(hasFilters ? { filter } : {}),
			},
			/**
			 * Sets the search words. Replaces the current history entry, because the user would otherwise
			 * add one with each letter.
			 */
			setQuery: (q: string) => change({ q: q || undefined }, { replace: true }),
			/** Sets a filter, or removes it if `value` is undefined. */
			setFilter: (name: string, value: FilterValue | undefined) =>
				change({ [name]: value }),
			/** Sets several filters at once, for example both ends of a range. */
			setFilters: (changes: Record<string, FilterValue | undefined>) =>
				change(changes),
			openEntry,
			/** Shows what a saved view has, or leaves the view if `id` is undefined. */
			openView: (id: string | undefined, search: ListSearch) =>
				changeSearch(() => withoutAbsent({ ...search, view: id })),
			setSort: (sort: string, dir: "asc" | "desc") => change({ sort, dir }),
			/** Returns to the usual order. */
			clearSort: () => change({ sort: undefined, dir: undefined }),
			/**
			 * The ids of the columns that the address names, or else of those that the reader chose last.
			 * Undefined if the list has its usual ones.
			 */
			columns,
			setColumns: (ids: readonly string[] | undefined) => {
				rememberColumns(path, ids);
				return change({ cols: ids?.join(",") }, { replace: true });
			},
			setSize: (size: number) => change({ size }),
			/** The number of pages before this one, or undefined if it is not known. */
			pagesBefore: earlier?.length,
			next: (cursor: string) =>
				goTo(
					cursor,
					earlier ? { earlierPages: [...earlier, search.cursor ?? null] } : {},
				),
			/** Goes back one page. Call it only if `pagesBefore` is above 0. */
			previous: () =>
				goTo(earlier?.at(-1) ?? null, {
					earlierPages: earlier?.slice(0, -1) ?? [],
				}),
			first: () => goTo(null, {}),
			clearFilters: () =>
				change(
					Object.fromEntries(
						[...Object.keys(filters), "q", "view"].map((name) => [
							name,
							undefined,
						]),
					),
				),
		}),
		[known],
	);
}

export type ListControls = ReturnType<typeof useListSearch>;

function withoutAbsent(
	search: Record<string, FilterValue | undefined>,
): ListSearch {
	return Object.fromEntries(
		Object.entries(search).filter(([, value]) => value !== undefined),
	);
}
