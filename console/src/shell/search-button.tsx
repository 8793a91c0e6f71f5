import { ActionIcon, Tooltip } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";

/** Where the search over everything will open. */
export function SearchButton() {
	return (
		<Tooltip label="Search">
			<ActionIcon
				variant="subtle"
				color="gray"
				c="var(--mantine-color-text)"
				size="lg"
				aria-label="Search"
			>
				<IconSearch size={18} aria-hidden />
			</ActionIcon>
		</Tooltip>
	);
}
