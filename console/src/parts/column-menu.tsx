import { ActionIcon, Button, Checkbox, Popover, Stack } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import type { ListControls } from "../list-search.ts";

/**
 * Chooses the columns of a list. The address keeps the choice, so that a bookmark and a link have
 * it too. A column that is chosen later stands further right. The first column cannot be left out.
 */
export function ColumnMenu({
	list,
	possible,
	shown,
}: {
	list: ListControls;
	possible: readonly { id: string; label: string }[];
	/** The ids of the columns that the list shows now. */
	shown: readonly string[];
}) {
	const [, ...others] = possible;
	return (
		<Popover position="bottom-end" withinPortal trapFocus>
			<Popover.Target>
				<ActionIcon
					variant="default"
					size={36}
					aria-label="Columns"
					title="Columns"
				>
					<IconColumns3 size={18} aria-hidden />
				</ActionIcon>
			</Popover.Target>
			<Popover.Dropdown
				aria-label="Columns of the list"
				mah="60vh"
				style={{ overflowY: "auto" }}
			>
				<Stack gap="xs">
					{others.map(({ id, label }) => (
						<Checkbox
							key={id}
							label={label}
							checked={shown.includes(id)}
							onChange={({ currentTarget }) =>
								list.setColumns(
									currentTarget.checked
										? [...shown, id]
										: shown.filter((one) => one !== id),
								)
							}
						/>
					))}
					<Button
						variant="subtle"
						size="compact-sm"
						disabled={!list.columns}
						onClick={() => list.setColumns(undefined)}
					>
						Usual columns
					</Button>
				</Stack>
			</Popover.Dropdown>
		</Popover>
	);
}

/** Returns the columns that the address names, or the usual ones. Unknown names are left out. */
export function shownColumns(
	list: ListControls,
	possible: readonly { id: string }[],
	usual: readonly string[],
): string[] {
	const first = usual[0] as string;
	const chosen = list.columns?.filter(
		(id) => id !== first && possible.some((one) => one.id === id),
	);
	return chosen ? [first, ...chosen] : [...usual];
}
