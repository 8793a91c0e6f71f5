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
import { useEffect, useRef } from "react";
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
	const focused = useRef<HTMLElement>(null);
	const status = useRef<HTMLDivElement>(null);
	const order = shown.join();
	// The browser takes the focus from an element that changes its place.
	// biome-ignore lint/correctness/useExhaustiveDependencies: a new order moves the elements.
	useEffect(() => {
		focused.current?.focus();
		focused.current = null;
	}, [order]);
	const [first, ...others] = shown.flatMap(
		(id) => possible.find((one) => one.id === id) ?? [],
	);
	const hidden = possible.filter(({ id }) => !shown.includes(id));
	const show = (ids: readonly string[], by: HTMLElement) => {
		focused.current = by;
		list.setColumns(ids);
	};
	const move = (from: number, to: number, by: HTMLElement) => {
		const ids = shown.toSpliced(from, 1).toSpliced(to, 0, shown[from] ?? "");
		show(ids, by);
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
					{others.map(({ id, label }, at) => (
						<Group key={id} gap={4} wrap="nowrap">
							<Checkbox
								label={label}
								checked
								flex={1}
								mr="md"
								onChange={({ currentTarget }) =>
									show(
										shown.filter((one) => one !== id),
										currentTarget,
									)
								}
							/>
							<MoveButton
								label={`Move ${label} up`}
								isPossible={at > 0}
								onClick={(by) => move(at + 1, at, by)}
							>
								<IconArrowUp size={16} aria-hidden />
							</MoveButton>
							<MoveButton
								label={`Move ${label} down`}
								isPossible={at < others.length - 1}
								onClick={(by) => move(at + 1, at + 2, by)}
							>
								<IconArrowDown size={16} aria-hidden />
							</MoveButton>
						</Group>
					))}
					{hidden.length > 0 && (
						<Text size="xs" c="dimmed" mt={6}>
							Not shown
						</Text>
					)}
					{hidden.map(({ id, label }) => (
						<Checkbox
							key={id}
							label={label}
							checked={false}
							onChange={({ currentTarget }) =>
								show([...shown, id], currentTarget)
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

/** A disabled button would lose the focus at the end of the way, so it only says that it is. */
function MoveButton({
	label,
	isPossible,
	onClick,
	children,
}: {
	label: string;
	isPossible: boolean;
	onClick: (by: HTMLElement) => void;
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
			onClick={({ currentTarget }) => isPossible && onClick(currentTarget)}
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
