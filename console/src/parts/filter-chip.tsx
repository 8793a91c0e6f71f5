import { Group, Pill } from "@mantine/core";

/** Shows a filter of the address that has no control. It is as tall as the controls beside it. */
export function FilterChip({
	label,
	remove,
	onRemove,
}: {
	label: string;
	/** Label of the button for screen readers. */
	remove: string;
	onRemove: () => void;
}) {
	return (
		<Group h={36} maw="100%">
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
