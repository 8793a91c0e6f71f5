import { Button, Group } from "@mantine/core";

/** Turns the pages of a list that stands on the page of a record. */
export function PageButtons({
	cursors,
	onChange,
	next,
}: {
	/** The cursors of the pages after the first one, up to the shown page. */
	cursors: string[];
	onChange: (cursors: string[]) => void;
	next: string | null;
}) {
	if (cursors.length === 0 && next === null) return null;
	return (
		<Group gap="xs" mt="sm">
			<Button
				size="compact-sm"
				variant="default"
				disabled={cursors.length === 0}
				onClick={() => onChange(cursors.slice(0, -1))}
			>
				Previous
			</Button>
			<Button
				size="compact-sm"
				variant="default"
				disabled={next === null}
				onClick={() => next && onChange([...cursors, next])}
			>
				Next
			</Button>
		</Group>
	);
}
