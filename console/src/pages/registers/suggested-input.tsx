import { Autocomplete } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { useValuesInUse } from "../../parts/records/values-in-use.ts";
import type { RegisterKind } from "../../register-kinds.ts";

/** Values that are offered before any record has them, by the name of the field. */
const USUAL: Partial<Record<RegisterKind, Record<string, readonly string[]>>> =
	{
		risk: {
			category: [
				"Access",
				"Finance",
				"Legal",
				"Operations",
				"People",
				"Privacy",
				"Security",
				"Suppliers",
			],
		},
	};

/**
 * Asks for a text. It suggests the values that other records of the register have, and then the
 * usual ones.
 */
export function SuggestedInput({
	kind,
	name,
	organizationId,
	...rest
}: {
	kind: RegisterKind;
	name: string;
	organizationId: string;
	label: string;
	description: string | undefined;
	required: boolean;
	error: ReactNode;
	value: string;
	onChange: (value: string) => void;
}) {
	const [isWanted, setWanted] = useState(false);
	const { values } = useValuesInUse(organizationId, kind, name, isWanted);
	const used = values.map(({ value }) => value);
	const known = new Set(used.map((value) => value.toLowerCase()));
	const more = (USUAL[kind]?.[name] ?? []).filter(
		(value) => !known.has(value.toLowerCase()),
	);
	return (
		<Autocomplete
			{...rest}
			data={[...used, ...more]}
			maxDropdownHeight={280}
			// The hidden list costs as much as a row of a table. See parts/picker.tsx.
			comboboxProps={{ keepMounted: isWanted }}
			// A form gives the focus to a wrong field, and an open list would cover its error.
			openOnFocus={false}
			onFocus={() => setWanted(true)}
			onKeyDown={keepForm}
		/>
	);
}

/**
 * Keeps Enter from submitting a form with more fields, which may be half filled. Enter means the
 * suggestion here, even if there is none. Ctrl or ⌘ and Enter submit.
 */
function keepForm(event: KeyboardEvent<HTMLInputElement>) {
	const fields = event.currentTarget.form?.querySelectorAll("input, textarea");
	const isAlone = fields?.length === 1;
	const submits = isAlone || event.ctrlKey || event.metaKey;
	if (event.key === "Enter" && !submits) event.preventDefault();
}
