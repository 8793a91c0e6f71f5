import { type HistoryState, linkOptions } from "@tanstack/react-router";
import type { ListControls, ListSearch } from "./list-search.ts";

interface Left {
	/** The search of any list. The types of its route name no filters. */
	search: ListSearch;
	state: HistoryState;
}

/** The lists by their paths, as the reader saw them last. A reload of the page forgets them. */
const lists = new Map<string, Left>();

/** Keeps the filters, the order and the page of a list, so that `listOf` leads back to them. */
export function keepList({ path, search, earlierPages }: ListControls): void {
	// Links keep the past day that the page shows. Another one may be shown by then.
	const { as_of: _, ...kept } = search;
	lists.set(path, {
		search: kept,
		state: earlierPages ? { earlierPages } : {},
	});
}

/** Returns the link from a record to the list of its register, as the reader left it. */
export function listOf(org: string, kind: string) {
	return linkOptions({
		to: "/o/$org/r/$kind",
		params: { org, kind },
		...lists.get(`/o/${org}/r/${kind}`),
	});
}

/** Returns the link to the list of devices, as the reader left it. */
export function devicesList(org: string) {
	return linkOptions({
		to: "/o/$org/devices",
		params: { org },
		...lists.get(`/o/${org}/devices`),
	});
}
