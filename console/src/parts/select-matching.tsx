import { Button } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { sentenceOf } from "./error-state.tsx";
import type { Matching, Selection } from "./selection.ts";
import { showFailure } from "./show-failure.ts";

/** Most rows that can be selected at once. A list counts no further either. */
const MAX_SELECTED = 10_000;

/**
 * Selects all rows that match the filters of a list, also those on other pages. It loads them page
 * by page, because the actions need to know the rows. Shows nothing if all are selected.
 */
export function SelectMatching<Row extends { id: string }>({
	selection,
	matching,
}: {
	selection: Selection<Row>;
	matching: Matching<Row>;
}) {
	const [loaded, setLoaded] = useState<number | null>(null);
	const isStopped = useRef(false);
	useEffect(() => {
		isStopped.current = false;
		return () => {
			isStopped.current = true;
		};
	}, []);
	const { total, isExact, read } = matching;
	const wanted = Math.min(total, MAX_SELECTED);

	async function selectAll() {
		isStopped.current = false;
		const rows: Row[] = [];
		try {
			let cursor: string | null = null;
			do {
				setLoaded(rows.length);
				const page = await read(cursor);
				if (isStopped.current) break;
				rows.push(...page.rows.slice(0, MAX_SELECTED - rows.length));
				cursor = page.next_cursor;
			} while (cursor !== null && rows.length < MAX_SELECTED);
			if (!isStopped.current) selection.set(rows, true);
		} catch (error) {
			showFailure("Not all rows were selected", sentenceOf(error));
		}
		setLoaded(null);
	}

	if (loaded !== null) {
		return (
			<Button
				variant="subtle"
				size="compact-sm"
				onClick={() => {
					isStopped.current = true;
				}}
			>
				Stop selecting ({loaded.toLocaleString()} of {wanted.toLocaleString()})
			</Button>
		);
	}
	if (selection.rows.length >= wanted) return null;
	const isAll = isExact && total <= MAX_SELECTED;
	return (
		<Button variant="subtle" size="compact-sm" onClick={selectAll}>
			Select {isAll ? "all" : "the first"} {wanted.toLocaleString()}
		</Button>
	);
}
