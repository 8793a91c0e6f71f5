import { Button, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import type { ReactNode } from "react";

/** The seldom used actions of a page, so that its buttons fit beside the heading. */
export function MoreMenu({
	children,
}: {
	/** Items of the menu, such as MenuLink. */
	children: ReactNode;
}) {
	return (
		<Menu position="bottom-end">
			<Menu.Target>
				<Button
					variant="default"
					aria-label="More actions"
					rightSection={<IconChevronDown size={16} aria-hidden />}
				>
					Actions
				</Button>
			</Menu.Target>
			<Menu.Dropdown>{children}</Menu.Dropdown>
		</Menu>
	);
}
