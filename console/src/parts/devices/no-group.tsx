import { Button, Group, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import type { RefObject } from "react";

/** Replaces a picker of groups that has nothing to offer. A new group can be added in place. */
export function NoGroup({
	button,
	onAdd,
	children = "There is no group yet.",
}: {
	button: RefObject<HTMLButtonElement | null>;
	onAdd: () => void;
	children?: string;
}) {
	return (
		<Group gap="sm">
			<Text size="sm">{children}</Text>
			<Button
				ref={button}
				size="compact-sm"
				variant="default"
				leftSection={<IconPlus size={14} aria-hidden />}
				onClick={onAdd}
			>
				Add a group
			</Button>
		</Group>
	);
}
