import {
	MultiSelect,
	type MultiSelectProps,
	Select,
	type SelectProps,
} from "@mantine/core";
import { type FocusEvent, useState } from "react";

/**
 * Renders the list of a picker once the picker has had the focus. A page has up to ten closed ones,
 * and each hidden list costs as much as a row of a table. The list is there before the first letter
 * is typed, because Mantine then marks its first option.
 */
function useLateList({
	comboboxProps,
	onFocus,
}: Pick<SelectProps, "comboboxProps" | "onFocus">) {
	const [wasFocused, setFocused] = useState(false);
	return {
		comboboxProps: { keepMounted: wasFocused, ...comboboxProps },
		onFocus: (event: FocusEvent<HTMLInputElement>) => {
			setFocused(true);
			onFocus?.(event);
		},
	};
}

/** A Select that renders its options late. */
export function Picker(props: SelectProps) {
	return <Select {...props} {...useLateList(props)} />;
}

/** A MultiSelect that renders its options late. */
export function MultiPicker(props: MultiSelectProps) {
	return <MultiSelect {...props} {...useLateList(props)} />;
}
