import {
	ActionIcon,
	Button,
	CloseButton,
	Group,
	TextInput,
} from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconFilterOff, IconSearch } from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import type { ListControls } from "../list-search.ts";

const TYPING_MS = 250;

/** The controls above a list: the search field, the filters, and a button that clears them. */
export function FilterBar({
	list,
	label,
	children,
}: {
	list: ListControls;
	/** The label of the search field, such as "Search risks". */
	label: string;
	children?: ReactNode;
}) {
	return (
		<Group
			mb="sm"
			gap={8}
			role="search"
			align="flex-end"
			onMouseOver={({ target }) => showWhole(target)}
		>
			<QueryField list={list} label={label} />
			{children}
			<ActionIcon
				variant="subtle"
				color="gray"
				size={36}
				aria-label="Clear filters"
				title="Clear filters"
				// The button keeps its place while it is hidden, so that the table below does not move.
				style={{ visibility: list.hasFilters ? "visible" : "hidden" }}
				visibleFrom="sm"
				onClick={() => list.clearFilters()}
			>
				<IconFilterOff size={18} aria-hidden />
			</ActionIcon>
			{list.hasFilters && (
				<Button
					variant="subtle"
					hiddenFrom="sm"
					leftSection={<IconFilterOff size={16} aria-hidden />}
					onClick={() => list.clearFilters()}
				>
					Clear filters
				</Button>
			)}
		</Group>
	);
}

/** Gives a field whose value is cut off a tooltip with the whole value. */
function showWhole(field: EventTarget) {
	if (!(field instanceof HTMLInputElement)) return;
	field.title = field.scrollWidth > field.clientWidth ? field.value : "";
}

/** Returns the width in px at which the field shows its whole label beside the sign. */
const widthFor = (label: string) => Math.max(140, 56 + 7.5 * label.length);

function QueryField({ list, label }: { list: ListControls; label: string }) {
	const inAddress = list.search.q ?? "";
	const [typed, setTyped] = useState(inAddress);
	const apply = useDebouncedCallback(
		(text: string) => list.setQuery(text.trim()),
		TYPING_MS,
	);
	// The browser's back and forward buttons and "Clear filters" change the address without going
	// through the field.
	useEffect(() => {
		setTyped((before) => (before.trim() === inAddress ? before : inAddress));
	}, [inAddress]);
	const type = (text: string) => {
		setTyped(text);
		apply(text);
	};
	return (
		<TextInput
			type="search"
			aria-label={label}
			placeholder={label}
			data-list-search
			maxLength={200}
			leftSection={<IconSearch size={16} aria-hidden />}
			rightSection={
				typed && (
					<CloseButton
						size="sm"
						aria-label="Clear the search"
						onClick={() => type("")}
					/>
				)
			}
			value={typed}
			onChange={(event) => type(event.currentTarget.value)}
			style={{ flex: `1 1 ${widthFor(label)}px`, maxWidth: 360 }}
		/>
	);
}
