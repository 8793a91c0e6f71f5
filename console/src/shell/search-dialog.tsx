import { Group, Kbd, Loader, Modal, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import {
	type KeyboardEvent,
	type RefObject,
	useEffect,
	useId,
	useRef,
	useState,
} from "react";
import { formatDay } from "../parts/days.ts";
import { ErrorState } from "../parts/error-state.tsx";
import { useEscape } from "../parts/escape.ts";
import { useReturnFocus } from "../parts/return-focus.ts";
import { ASK_FOR_AUDIT_LOG } from "../parts/roles.tsx";
import styles from "./search.module.css";
import { type Item, useSearchItems } from "./search-items.ts";

/** The dialog for a search in everything, with its list of results. */
export function SearchDialog({
	opened,
	onClose,
	takeTyped,
	from,
}: {
	opened: boolean;
	onClose: () => void;
	/** The element that had the focus before. */
	from: RefObject<Element | null>;
	/**
	 * Returns the text that the user typed after opening the dialog and before the field appeared.
	 * Further calls return an empty text.
	 */
	takeTyped: () => string;
}) {
	useReturnFocus(opened, from);
	// A dialog below this one must not close by the same key.
	useEscape(opened, onClose);
	return (
		<Modal.Root
			opened={opened}
			onClose={onClose}
			closeOnEscape={false}
			returnFocus={false}
			size="lg"
			yOffset="10vh"
		>
			<Modal.Overlay />
			<Modal.Content aria-label="Search everything">
				<Modal.Body p={0}>
					<Search onClose={onClose} takeTyped={takeTyped} />
				</Modal.Body>
			</Modal.Content>
		</Modal.Root>
	);
}

/** Shows a field with the options below it. The focus stays in the field. */
function Search({
	onClose,
	takeTyped,
}: {
	onClose: () => void;
	takeTyped: () => string;
}) {
	const [typed, setTyped] = useState("");
	const [active, setActive] = useState(0);
	const listId = useId();
	const list = useRef<HTMLDivElement>(null);
	const [entered, setEntered] = useState<"now" | "early">();
	const { day, groups, isLogWithheld, isSearching, error, refetch } =
		useSearchItems(typed, onClose);
	const items = groups.flatMap((group) => group.items);
	const at = Math.min(active, items.length - 1);
	const chosen = items[at];
	// While the search runs, the records still match the previous words. The commands always match
	// the current ones.
	const isReady = !isSearching || chosen?.isCommand;
	const optionId = (index: number) => `${listId}-${index}`;

	useEffect(() => {
		list.current
			?.querySelector('[aria-selected="true"]')
			?.scrollIntoView({ block: "nearest" });
	});

	// If the user presses Enter before the response arrives, the dialog opens the first record when
	// it does. It opens no record that only has a similar name.
	// biome-ignore lint/correctness/useExhaustiveDependencies: `chosen` changes on each render.
	useEffect(() => {
		if (!entered || !isReady) return;
		setEntered(undefined);
		if (entered === "now" || !chosen?.isSimilar) chosen?.choose();
	}, [entered, isReady]);

	const press = (event: KeyboardEvent) => {
		const move = MOVES[event.key];
		if (move && items.length > 0) {
			event.preventDefault();
			setActive((at + move + items.length) % items.length);
		}
		if (event.key === "Enter" && !event.nativeEvent.isComposing) {
			event.preventDefault();
			setEntered(isReady ? "now" : "early");
		}
	};
	const similar = items.filter(({ isSimilar }) => isSimilar);
	const nothing =
		items.length === 0 && !isSearching && !error && !isLogWithheld;
	let index = -1;
	return (
		<>
			<TextInput
				data-autofocus
				variant="unstyled"
				size="md"
				px="md"
				className={styles.field}
				role="combobox"
				aria-expanded
				aria-controls={listId}
				aria-activedescendant={at >= 0 ? optionId(at) : undefined}
				aria-label="Search everything"
				placeholder="Search records, or go to a page"
				autoComplete="off"
				spellCheck={false}
				maxLength={200}
				leftSection={<IconSearch size={18} aria-hidden />}
				rightSection={isSearching && <Loader size="xs" />}
				value={typed}
				onFocus={() => {
					const ahead = takeTyped();
					if (ahead) setTyped((before) => before + ahead);
				}}
				onChange={({ currentTarget }) => {
					setTyped(currentTarget.value);
					setActive(0);
					setEntered(undefined);
				}}
				onKeyDown={press}
			/>
			<div ref={list} className={styles.list}>
				{error && <ErrorState error={error} onRetry={refetch} />}
				<div id={listId} role="listbox" aria-label="Results">
					{groups.map(({ title, items }) => (
						// biome-ignore lint/a11y/useSemanticElements: a listbox contains no fieldsets.
						<div key={title} role="group" aria-label={title}>
							<Text
								size="xs"
								fw={600}
								c="dimmed"
								px="sm"
								pt="xs"
								pb={2}
								aria-hidden
							>
								{title}
							</Text>
							{items.map((item) => {
								index++;
								return (
									<Option
										key={item.id}
										id={optionId(index)}
										item={item}
										isActive={index === at}
									/>
								);
							})}
						</div>
					))}
				</div>
				<Text c="dimmed" ta="center" role="status" size="sm">
					{nothing && (
						<Text span display="block" py="lg">
							Nothing matches “{typed.trim()}”. Try fewer or other words.
						</Text>
					)}
					{similar.length > 0 && !isSearching && (
						<Text span display="block" p="sm">
							{similar.length === items.length ? "Nothing" : "No record"}{" "}
							matches “{typed.trim()}”. Some names are only similar.
						</Text>
					)}
					{isLogWithheld && (
						<Text span display="block" p="sm">
							{ASK_FOR_AUDIT_LOG}
						</Text>
					)}
				</Text>
			</div>
			{day && (
				<Text size="sm" px="md" py={6} className={styles.keys}>
					Records are those of the end of <b>{formatDay(day)}</b>.
				</Text>
			)}
			<Group gap="md" px="md" py={8} className={styles.keys} visibleFrom="xs">
				<Key keys={["↑", "↓"]}>choose</Key>
				<Key keys={["Enter"]}>open</Key>
				<Key keys={["Esc"]}>close</Key>
			</Group>
		</>
	);
}

const MOVES: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 };

function Option({
	id,
	item: { label, beside, icon: Shape, choose },
	isActive,
}: {
	id: string;
	item: Item;
	isActive: boolean;
}) {
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field handles keys.
		<div
			id={id}
			role="option"
			aria-selected={isActive}
			className={styles.option}
			onClick={choose}
			// A click on an option must not take the focus away from the field.
			onMouseDown={(event) => event.preventDefault()}
		>
			<Shape size={18} stroke={1.6} aria-hidden className={styles.icon} />
			<div className={styles.words}>
				<Text span size="sm" truncate>
					{label}
				</Text>
				{beside && (
					<Text span size="xs" truncate>
						{beside}
					</Text>
				)}
			</div>
		</div>
	);
}

function Key({ keys, children }: { keys: string[]; children: string }) {
	return (
		<Group gap={4}>
			{keys.map((key) => (
				<Kbd key={key} size="xs">
					{key}
				</Kbd>
			))}
			<Text size="xs" c="dimmed">
				{children}
			</Text>
		</Group>
	);
}
