import { Button, Group } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconFilter } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import type { ListControls } from "../list-search.ts";
import { NARROW } from "../narrow-screens.ts";

/**
 * Shows the filters of a list. On a narrow screen, a button with the number of active filters opens
 * them.
 */
export function FoldedFilters({
	list,
	children,
}: {
	list: ListControls;
	children: ReactNode;
}) {
	const isNarrow = useMediaQuery(NARROW);
	const [isOpen, setOpen] = useState(false);
	const active = Object.keys(list.filters).length;
	if (!isNarrow) return children;
	return (
		<>
			<Button
				variant="default"
				leftSection={<IconFilter size={16} aria-hidden />}
				aria-expanded={isOpen}
				onClick={() => setOpen(!isOpen)}
			>
				Filters{active > 0 && ` (${active})`}
			</Button>
			{isOpen && (
				<Group gap="sm" align="flex-end">
					{children}
				</Group>
			)}
		</>
	);
}
