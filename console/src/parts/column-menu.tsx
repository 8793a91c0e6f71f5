import {
	ActionIcon,
	Button,
	Checkbox,
	Group,
	Popover,
	Stack,
	Text,
	VisuallyHidden,
} from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconColumns3 } from "@tabler/icons-react";
import { useRef } from "react";
import type { ListControls } from "../list-search.ts";

/**
 * Chooses the columns of a list and their order. The address keeps the choice, so that a bookmark, a
 * link and a saved view have it too. The first column can be neither left out nor moved.
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
	const status = useRef<HTMLDivElement>(null);
	const first = possible.find(({ id }) => id === shown[0]);
	const others = [
		...shown
			.slice(1)
			.flatMap((id) => possible.find((one) => one.id === id) ?? []),
		...possible.filter(({ id }) => !shown.includes(id)),
	];
	const move = (from: number, to: number) => {
		list.setColumns(
			shown.toSpliced(from, 1).toSpliced(to, 0, shown[from] ?? ""),
		);
		if (status.current) {
			status.current.textContent = `${others[from - 1]?.label}: column ${to + 1} of ${shown.length}`;
		}
	};
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
			<Popover.Dropdown mah="60vh" miw={260} style={{ overflowY: "auto" }}>
				<VisuallyHidden ref={status} role="status" />
				<Stack gap={6}>
					<Text size="xs" c="dimmed">
						Shown, in this order after “{first?.label}”
					</Text>
					{/* One list of rows, so that a row which changes its place keeps the focus. */}
					{others.flatMap(({ id, label }, at) => {
						const place = at + 1;
						const isShown = place < shown.length;
						const row = (
							<Group key={id} gap={4} wrap="nowrap">
								<Checkbox
									label={label}
									checked={isShown}
									flex={1}
									mr="md"
									onChange={() =>
										list.setColumns(
											isShown
												? shown.filter((one) => one !== id)
												: [...shown, id],
										)
									}
								/>
								{isShown && (
									<>
										<MoveButton
											label={`Move ${label} up`}
											isPossible={place > 1}
											onClick={() => move(place, place - 1)}
										>
											<IconArrowUp size={16} aria-hidden />
										</MoveButton>
										<MoveButton
											label={`Move ${label} down`}
											isPossible={place < shown.length - 1}
											onClick={() => move(place, place + 1)}
										>
											<IconArrowDown size={16} aria-hidden />
										</MoveButton>
									</>
								)}
							</Group>
						);
						return place === shown.length
							? [
									<Text key="not shown" size="xs" c="dimmed" mt={6}>
										Not shown
									</Text>,
									row,
								]
							: [row];
					})}
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

/** A disabled button would lose the focus at the end of the way, so it only says that it is. */
function MoveButton({
	label,
	isPossible,
	onClick,
	children,
}: {
	label: string;
	isPossible: boolean;
	onClick: () => void;
	children: React.ReactNode;
}) {
	return (
		<ActionIcon
			variant="subtle"
			color="gray"
			size={24}
			aria-label={label}
			title={label}
			aria-disabled={!isPossible}
			{...(isPossible ? {} : { "data-disabled": true })}
			onClick={() => isPossible && onClick()}
		>
			{children}
		</ActionIcon>
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
