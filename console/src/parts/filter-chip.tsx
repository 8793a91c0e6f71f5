import { Group, Pill } from "@mantine/core";

/**
 * Shows a filter in the address that has no control. The chip is as tall as the controls beside it,
 * and stands after them: the controls of a register just fill a line, so a chip among them would
 * move the last ones to the next line.
 */
export function FilterChip({
	label,
	remove,
	onRemove,
}: {
	label: string;
	/** The label of the button that removes the filter, for screen readers. */
	remove: string;
	onRemove: () => void;
}) {
	return (
		<Group h={36} maw="100%" style={{ order: 1 }}>
			<Pill
				size="md"
				withRemoveButton
				onRemove={onRemove}
				removeButtonProps={{
					"aria-label": remove,
					"aria-hidden": false,
					tabIndex: 0,
				}}
			>
				{label}
			</Pill>
		</Group>
	);
}
