import { type ComboboxProps, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type CSSProperties, type ReactNode, useState } from "react";
import { describeKind, noneYet, titleOf } from "../../kinds.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import { clearButton } from "../clear-button.ts";
import { MultiPicker, Picker } from "../picker.tsx";
import { besideRecord } from "./beside-words.ts";
import { useRecordNames } from "./record-names.ts";
import { recordsQuery } from "./register-calls.ts";

const TYPING_MS = 200;
/** The only disabled option is a line to read, so it does not fade. */
const STYLES = { option: { opacity: 1 } };

/**
 * Properties of both pickers, apart from their value. All others are passed on to Mantine's input.
 */
interface Common {
	organizationId: string;
	kind: RegisterKind;
	label?: string;
	"aria-label"?: string;
	placeholder?: string;
	description?: string | undefined;
	required?: boolean;
	error?: ReactNode;
	w?: number | string;
	className?: string;
	comboboxProps?: ComboboxProps;
	style?: CSSProperties;
	"data-path"?: string;
}

interface Option {
	value: string;
	label: string;
	beside?: string;
	disabled?: boolean;
}

/** Searches the records of one kind on the server. */
function useOptions(
	organizationId: string,
	kindName: RegisterKind,
	words: string,
	picked: readonly string[],
	/** True while the list has not been opened, so that there is nothing to search for. */
	isIdle: boolean,
) {
	const kind = describeKind(kindName);
	const typed = words.trim();
	const [query] = useDebouncedValue(typed, TYPING_MS);
	const names = useRecordNames(organizationId, picked);
	const found = useQuery({
		...recordsQuery(kind, {
			organization_id: organizationId,
			...(kind.title && kind.orders.includes(kind.title)
				? { order_by: { field: kind.title } }
				: {}),
			...(query ? { filter: { query: query.slice(0, 200) } } : {}),
		}),
		placeholderData: keepPreviousData,
		enabled: !isIdle,
	});
	const options: Option[] = (found.data?.records ?? []).map((record) => ({
		value: record.id,
		label: titleOf(kind, record),
		beside: besideRecord(kind, record),
	}));
	const known = new Set(options.map(({ value }) => value));
	// A chosen record needs a name even if the search does not find it.
	for (const id of picked) {
		if (!known.has(id))
			options.push({ value: id, label: names.get(id) ?? "…" });
	}
	// While the search runs, the results belong to the previous words.
	const isSettled = typed === query && !found.isPlaceholderData;
	const left = (found.data?.total ?? 0) - (found.data?.records.length ?? 0);
	if (left > 0 && isSettled) {
		const count = found.data?.total_is_exact ? left.toLocaleString() : "Many";
		const label = `${count} more: type ${query ? "more letters" : "to search"}`;
		options.push({ value: MORE, label, disabled: true });
	}
	const nothing = found.isError
		? "The search failed. Type again to retry."
		: found.isPending || !isSettled
			? "Searching …"
			: query
				? `${kindName === "people" ? "No person matches" : `No ${kind.nouns} match`} “${query}”`
				: noneYet(kind);
	const matches = ({ value, label, beside = "" }: Option) =>
		value === MORE || known.has(value)
			? isSettled || hasWords(`${label} ${beside}`, typed)
			: EXTRA.includes(value) && hasWords(label, typed);
	return { options, matches, nothing };
}

function hasWords(text: string, words: string): boolean {
	const among = text.toLowerCase();
	return words
		.toLowerCase()
		.split(/\s+/)
		.every((word) => among.includes(word));
}

/** Lets the user choose one record of a kind by typing. */
export function ReferencePicker({
	organizationId,
	kind,
	value,
	onChange,
	clearable = true,
	none,
	me,
	startsOpen = false,
	...rest
}: Common & {
	/** True to show the records at once, where choosing one is all that there is to do. */
	startsOpen?: boolean;
	value: string | null;
	onChange: (id: string | null) => void;
	clearable?: boolean;
	/** The label of an extra option for records that refer to no record. Its value is NONE. */
	none?: string;
	/** The label of an extra option for the reader's own person. Its value is ME. */
	me?: string;
}) {
	const [typed, setTyped] = useState("");
	const [isIdle, setIdle] = useState(!startsOpen);
	const picked = value && !EXTRA.includes(value) ? [value] : [];
	const { options, matches, nothing } = useOptions(
		organizationId,
		kind,
		typed,
		picked,
		isIdle,
	);
	const data = [
		...(me ? [{ value: ME, label: me }] : []),
		...(none ? [{ value: NONE, label: none }] : []),
		...options,
	];
	const label = data.find((option) => option.value === value)?.label;
	return (
		<Picker
			{...rest}
			searchable
			defaultDropdownOpened={startsOpen}
			onDropdownOpen={() => setIdle(false)}
			clearable={clearable}
			data={data}
			value={value}
			onChange={onChange}
			onSearchChange={(text) => setTyped(text === label ? "" : text)}
			// The server filters the options. If a record is already chosen, a user who opens the list
			// sees the others too.
			filter={({ options: all }) => all.filter((one) => matches(one as Option))}
			nothingFoundMessage={nothing}
			renderOption={({ option }) => <Rendered option={option} />}
			clearButtonProps={clearButton(
				`Clear ${rest.label ?? rest["aria-label"] ?? ""}`,
			)}
			maxDropdownHeight={280}
			styles={STYLES}
		/>
	);
}

/** The value of the option `none`. No id has this value. */
export const NONE = "none";
/** The value of the option `me`. */
export const ME = "me";
/** The value of the last line, which says how many records the list leaves out. */
const MORE = "more";
const EXTRA: readonly string[] = [NONE, ME];

/** Lets the user choose several records of a kind. */
export function ReferencesPicker({
	organizationId,
	kind,
	value,
	onChange,
	...rest
}: Common & { value: string[]; onChange: (ids: string[]) => void }) {
	const [typed, setTyped] = useState("");
	const [isIdle, setIdle] = useState(true);
	const { options, matches, nothing } = useOptions(
		organizationId,
		kind,
		typed,
		value,
		isIdle,
	);
	return (
		<MultiPicker
			{...rest}
			searchable
			onDropdownOpen={() => setIdle(false)}
			clearable
			hidePickedOptions
			data={options}
			value={value}
			onChange={onChange}
			onSearchChange={setTyped}
			filter={({ options: all }) => all.filter((one) => matches(one as Option))}
			nothingFoundMessage={nothing}
			renderOption={({ option }) => <Rendered option={option} />}
			clearButtonProps={clearButton(
				`Clear ${rest.label ?? rest["aria-label"] ?? ""}`,
			)}
			maxDropdownHeight={280}
			styles={STYLES}
		/>
	);
}

function Rendered({ option }: { option: Option }) {
	return (
		<div style={{ minWidth: 0 }}>
			<Text size="sm" lineClamp={2} {...(option.disabled && { c: "dimmed" })}>
				{option.label}
			</Text>
			{option.beside && (
				// A dimmed text could not be read on the color of the chosen option.
				<Text size="xs" lineClamp={1}>
					{option.beside}
				</Text>
			)}
		</div>
	);
}
