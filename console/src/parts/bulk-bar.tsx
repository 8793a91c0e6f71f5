import { Button, Group, Paper, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { SelectMatching } from "./select-matching.tsx";
import type { Matching, Selection } from "./selection.ts";

/**
 * Shows how many rows are selected and what can be done with them. It stays in view below the rows,
 * so that they do not move when the first one is selected.
 */
export function BulkBar<Row extends { id: string }>({
	selection,
	matching,
	children,
}: {
	selection: Selection<Row>;
	/** The rows of the whole list, or nothing while it is not known. */
	matching: Matching<Row> | undefined;
	/** The buttons of the actions. */
	children: ReactNode;
}) {
	const count = selection.rows.length;
	if (count === 0) return null;
	// An action can change a row so that the filters no longer find it. It stays selected.
	const elsewhere = matching
		? selection.rows.filter(
				({ id }) => !matching.shown.some((row) => row.id === id),
			).length
		: 0;
	return (
		<Paper
			ref={tellHeight}
			withBorder
			shadow="sm"
			p="xs"
			mt="sm"
			pos="sticky"
			bottom={16}
			style={{ zIndex: 2 }}
			role="region"
			aria-label="Selected rows"
		>
			<Group gap={6} className="bulk-bar">
				<Text size="sm" fw={500} role="status" mx="xs">
					{count.toLocaleString()} selected
					{elsewhere > 0 && `, ${elsewhere.toLocaleString()} not on this page`}
				</Text>
				<Button variant="subtle" size="compact-sm" onClick={selection.clear}>
					Clear selection
				</Button>
				{matching && (
					<SelectMatching selection={selection} matching={matching} />
				)}
				{children}
			</Group>
		</Paper>
	);
}

/** Keeps the height of the bar in a variable of the page, because messages stand above the bar. */
function tellHeight(bar: HTMLElement | null) {
	if (!bar) return;
	const observer = new ResizeObserver(() => {
		document.body.style.setProperty("--bulk-bar", `${bar.offsetHeight}px`);
	});
	observer.observe(bar);
	return () => observer.disconnect();
}
