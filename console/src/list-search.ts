import { useNavigate, useSearch } from "@tanstack/react-router";

export type FilterValue = string | number | boolean | null;

/** The state of a list as the address has it. Whatever else is in it is a filter of the list. */
export interface ListSearch {
	/** Words that must occur. */
	q?: string;
	sort?: string;
	dir?: "asc" | "desc";
	/** Where the page begins; absent: the first one. */
	cursor?: string;
	/** Records a page. */
	size?: number;
	/** Which entry of the list is opened, by its number. */
	entry?: number;
	[filter: string]: FilterValue | undefined;
}

const NOT_FILTERS = new Set(["q", "sort", "dir", "cursor", "size", "entry"]);
export const SIZES = [20, 50, 100];

/** Of what an address says, that which a list can use. */
export function parseListSearch(raw: Record<string, unknown>): ListSearch {
	const search: ListSearch = {};
	for (const [name, value] of Object.entries(raw)) {
		if (NOT_FILTERS.has(name)) continue;
		if (
			value === null ||
			["string", "number", "boolean"].includes(typeof value)
		) {
			search[name] = value as FilterValue;
		}
	}
	const { q, sort, dir, cursor, size, entry } = raw;
	// Words such as 2024 are read as a number from an address that was written by hand.
	if (typeof q === "number") search.q = String(q);
	if (typeof q === "string" && q !== "") search.q = q;
	if (typeof sort === "string") search.sort = sort;
	if (dir === "asc" || dir === "desc") search.dir = dir;
	if (typeof cursor === "string") search.cursor = cursor;
	if (typeof size === "number" && SIZES.includes(size)) search.size = size;
	if (typeof entry === "number") search.entry = entry;
	return search;
}

/**
 * The list that the address describes, as an operation's input wants it, and what changes
 * the address. Every change begins at the first page; "previous" is the browser's back.
 */
export function useListSearch() {
	const search: ListSearch = useSearch({ strict: false });
	const navigate = useNavigate();
	const change = (
		changes: Record<string, FilterValue | undefined>,
		{ replace = false } = {},
	) =>
		navigate({
			to: ".",
			replace,
			resetScroll: false,
			search: (before: ListSearch) =>
				withoutAbsent({ ...before, cursor: undefined, ...changes }),
		} as never);

	/** Stays on the page of the list. */
	const openEntry = (entry: number | undefined) =>
		navigate({
			to: ".",
			resetScroll: false,
			search: (before: ListSearch) => withoutAbsent({ ...before, entry }),
		} as never);

	const filters = Object.fromEntries(
		Object.entries(search).filter(
			([name, value]) => !NOT_FILTERS.has(name) && value !== undefined,
		),
	) as Record<string, FilterValue>;
	const filter = { ...filters, ...(search.q ? { query: search.q } : {}) };
	const hasFilters = Object.keys(filter).length > 0;

	return {
		search,
		/** Without `query`. */
		filters,
		hasFilters,
		/** To be spread into the input of a list operation. */
		input: {
			...(search.size ? { size: search.size } : {}),
			...(search.cursor ? { cursor: search.cursor } : {}),
			...(search.sort
				? {
						order_by: {
							field: search.sort,
							direction: search.dir === "desc" ? "DESC" : "ASC",
						} as const,
					}
				: {}),
			...(hasFilters ? { filter } : {}),
		},
		/** Typing replaces the address instead of filling the history. */
		setQuery: (q: string) => change({ q: q || undefined }, { replace: true }),
		/** undefined takes the filter away. */
		setFilter: (name: string, value: FilterValue | undefined) =>
			change({ [name]: value }),
		/** Several at once, as for the two ends of a range. */
		setFilters: (changes: Record<string, FilterValue | undefined>) =>
			change(changes),
		openEntry,
		setSort: (sort: string, dir: "asc" | "desc") => change({ sort, dir }),
		setSize: (size: number) => change({ size }),
		next: (cursor: string) => change({ cursor }),
		first: () => change({}),
		clearFilters: () =>
			change(
				Object.fromEntries(
					[...Object.keys(filters), "q"].map((name) => [name, undefined]),
				),
			),
	};
}

export type ListControls = ReturnType<typeof useListSearch>;

function withoutAbsent(
	search: Record<string, FilterValue | undefined>,
): ListSearch {
	return Object.fromEntries(
		Object.entries(search).filter(([, value]) => value !== undefined),
	);
}
