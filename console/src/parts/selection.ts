import { useCallback, useState } from "react";

/** The rows of a list that the reader has selected, also those on other pages. */
export interface Selection<Row extends { id: string }> {
	rows: readonly Row[];
	has: (id: string) => boolean;
	/** Selects the rows, or removes them from the selection. */
	set: (rows: readonly Row[], isChosen: boolean) => void;
	clear: () => void;
	/** The name of a row for screen readers. */
	nameOf: (row: Row) => string;
}

/** All rows that match the filters of a list, from which the reader may select all. */
export interface Matching<Row> {
	/** How many there are. If `isExact` is false, there are more. */
	total: number;
	isExact: boolean;
	/** Those that the page shows. */
	shown: readonly Row[];
	/** Loads a page of them, the first one if the cursor is null. */
	read: (
		cursor: string | null,
	) => Promise<{ rows: readonly Row[]; next_cursor: string | null }>;
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * Keeps the selection of a list. `scope` names the list with its filters: when it changes, the
 * selection is empty, because nobody should act on rows that the list no longer shows.
 */
export function useSelection<Row extends { id: string }>(
	scope: string,
	nameOf: (row: Row) => string,
): Selection<Row> {
	const [kept, setKept] = useState<{
		scope: string;
		chosen: ReadonlyMap<string, Row>;
	}>({ scope, chosen: NONE });
	const chosen = kept.scope === scope ? kept.chosen : NONE;
	// The same function in each render, so that rows need not render again.
	const set = useCallback(
		(rows: readonly Row[], isChosen: boolean) =>
			setKept((before) => {
				const after = new Map(before.scope === scope ? before.chosen : NONE);
				for (const row of rows) {
					if (isChosen) after.set(row.id, row);
					else after.delete(row.id);
				}
				return { scope, chosen: after };
			}),
		[scope],
	);
	return {
		rows: [...chosen.values()],
		has: (id) => chosen.has(id),
		set,
		clear: () => setKept({ scope, chosen: NONE }),
		nameOf,
	};
}
