import { ActionIcon, Button, Kbd, Tooltip } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useParams } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { findRegisterKind } from "../register-kinds.ts";
import { rememberVisit } from "./recent-visits.ts";
import { keepTyping } from "./typed-ahead.ts";

/** Milliseconds after which the page itself has usually finished loading. */
const IDLE_MS = 2_000;

const load = () => import("./search-dialog.tsx");
const SearchDialog = lazy(async () => ({
	default: (await load()).SearchDialog,
}));

/** Not every browser has this setting. */
const savesData = () =>
	(navigator as { connection?: { saveData?: boolean } }).connection?.saveData;

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the search over all records and pages, with a button or from anywhere with Ctrl-K (⌘K). */
export function SearchButton() {
	const [isOpen, setIsOpen] = useState(false);
	const [wasOpened, setWasOpened] = useState(false);
	const typedAhead = useRef((): string => "");
	const from = useRef<Element>(null);
	const open = () => {
		typedAhead.current();
		typedAhead.current = keepTyping();
		from.current = document.activeElement;
		setWasOpened(true);
		setIsOpen(true);
	};
	const close = () => {
		typedAhead.current();
		setIsOpen(false);
	};
	// The dialog's code is loaded in advance, so that its first opening does not wait for a slow
	// network. A reader who saves data loads it only when it is wanted.
	useEffect(() => {
		if (savesData()) return;
		const timer = setTimeout(() => load().catch(() => {}), IDLE_MS);
		return () => clearTimeout(timer);
	}, []);
	// This key also works while a field has the focus.
	useHotkeys([["mod+K", () => (isOpen ? close() : open())]], []);
	useHotkeys([["/", () => focusListSearch() || open()]]);
	useVisits();
	const events = { onClick: open, onMouseEnter: load, onFocus: load };
	return (
		<>
			<Button
				{...events}
				visibleFrom="md"
				variant="default"
				size="xs"
				fw={400}
				c="dimmed"
				aria-keyshortcuts={isMac ? "Meta+K" : "Control+K"}
				leftSection={<IconSearch size={16} aria-hidden />}
				rightSection={
					<Kbd size="xs" aria-hidden>
						{isMac ? "⌘ K" : "Ctrl K"}
					</Kbd>
				}
			>
				Search
			</Button>
			<Tooltip label="Search everything">
				<ActionIcon
					{...events}
					hiddenFrom="md"
					variant="subtle"
					color="gray"
					c="var(--mantine-color-text)"
					size="lg"
					aria-label="Search"
				>
					<IconSearch size={18} aria-hidden />
				</ActionIcon>
			</Tooltip>
			{wasOpened && (
				<Suspense>
					<SearchDialog
						opened={isOpen}
						onClose={close}
						takeTyped={() => typedAhead.current()}
						from={from}
					/>
				</Suspense>
			)}
		</>
	);
}

/** Moves the focus to the search field of the list. Returns false if the page has none. */
function focusListSearch(): boolean {
	const field = document.querySelector<HTMLInputElement>("[data-list-search]");
	field?.focus();
	return field !== null;
}

/** Remembers which records are opened, so that the search can offer them. */
function useVisits(): void {
	const { org, kind, id } = useParams({ strict: false });
	useEffect(() => {
		if (!org || !id) return;
		const known = kind ? findRegisterKind(kind)?.kind : "device";
		if (known) rememberVisit(org, { kind: known, id });
	}, [org, kind, id]);
}
