import { Autocomplete } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useValuesInUse } from "../../parts/records/values-in-use.ts";
import type { RegisterKind } from "../../register-kinds.ts";

/** Asks for a text and suggests the values that other records of the register have. */
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
	return (
		<Autocomplete
			{...rest}
			data={values.map(({ value }) => value)}
			maxDropdownHeight={280}
			// A form gives the focus to a wrong field, and an open list would cover its error.
			openOnFocus={false}
			onFocus={() => setWanted(true)}
		/>
	);
}
