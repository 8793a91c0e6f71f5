import { Group, Pill } from "@mantine/core";

/** A filter that the address has and no control shows; as tall as the controls beside it. */
export function FilterChip({
	label,
	remove,
	onRemove,
}: {
	label: string;
	/** What the button does, for who does not see it. */
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
