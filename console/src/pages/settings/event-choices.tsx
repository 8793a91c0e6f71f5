import { Button, Checkbox, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { eventInWords } from "./event-words.ts";

/** Lets the reader choose events, one by one, all of them or none. */
export function EventChoices({
	types,
	value = [],
	onChange,
	error,
	withAsterisk = false,
}: {
	types: readonly string[];
	value?: string[];
	onChange: (chosen: string[]) => void;
	error?: ReactNode;
	withAsterisk?: boolean;
}) {
	const choose = (label: string, chosen: readonly string[]) => (
		<Button
			size="compact-sm"
			variant="default"
			aria-label={`${label} of the events`}
			disabled={value.length === chosen.length}
			onClick={() => onChange([...chosen])}
		>
			{label}
		</Button>
	);
	return (
		<Checkbox.Group
			label={FIELD_LABELS.webhook.event_types}
			description={`${value.length} of ${types.length} chosen`}
			value={value}
			onChange={onChange}
			error={error}
			withAsterisk={withAsterisk}
		>
			<Group gap="xs" mt="xs">
				{choose("All", types)}
				{choose("None", [])}
			</Group>
			<Stack gap="xs" mt="xs">
				{types.map((type) => (
					<Checkbox
						key={type}
						value={type}
						label={eventInWords(type)}
						description={type}
					/>
				))}
			</Stack>
		</Checkbox.Group>
	);
}
