import { Group, Select, Stack, Text, Title } from "@mantine/core";
import { isScale, stepsOf } from "../../../../src/records/scales.ts";
import type { OutputOf } from "../../api.ts";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { fieldOf } from "../../kinds.ts";
import { type Meanings, SKIP } from "./unknown-values.ts";

type UnknownValue = OutputOf<"importRecords">["unknown_values"][number];

/** The choice for a value that counts as an empty cell. */
const LEAVE_EMPTY = "-";

/** Asks once for each unknown value of a choice or a scale what it means. */
export function MeaningFields({
	kind,
	values,
	meanings,
	onChange,
}: {
	kind: KindDescription;
	values: readonly UnknownValue[];
	meanings: Meanings;
	onChange: (meanings: Meanings) => void;
}) {
	if (values.length === 0) return null;
	const canBeEmpty = values.map(({ field }) =>
		mayBeEmpty(fieldOf(kind, field)),
	);
	return (
		<Stack
			gap="xs"
			mb="md"
			component="section"
			aria-label="Values without a meaning"
		>
			<Title order={3}>
				{values.length === 1
					? "1 value is not a choice of its field"
					: `${values.length} values are not choices of their fields`}
			</Title>
			<Text size="sm" c="dimmed">
				Choose what each value means, or skip its lines.
				{canBeEmpty.includes(true) &&
					` “Leave empty” gives a new ${kind.noun} the usual first value, and does not change an existing one.${
						canBeEmpty.includes(false)
							? " A required field cannot be left empty."
							: ""
					}`}
			</Text>
			<Group gap="sm" align="flex-end">
				{values.map(({ field: name, column, value, count }) => {
					const field = fieldOf(kind, name);
					if (!field) return null;
					const { [value]: meaning, ...others } = meanings[name] ?? {};
					return (
						<Select
							key={JSON.stringify([name, value])}
							label={`“${value}” in ${column} (${count === 1 ? "1 line" : `${count.toLocaleString()} lines`})`}
							placeholder="Choose its meaning"
							w={260}
							maw="100%"
							styles={{ label: { overflowWrap: "anywhere" } }}
							data={optionsOf(field, count)}
							value={meaning === null ? LEAVE_EMPTY : (meaning ?? null)}
							onChange={(chosen) =>
								onChange({
									...meanings,
									[name]:
										chosen === null
											? others
											: {
													...others,
													[value]: chosen === LEAVE_EMPTY ? null : chosen,
												},
								})
							}
						/>
					);
				})}
			</Group>
		</Stack>
	);
}

const mayBeEmpty = (field: FieldDescription | undefined) =>
	field?.given !== "required";

function optionsOf(field: FieldDescription, lines: number) {
	const { name, choices = [] } = field;
	return [
		...(isScale(field) ? stepsOf(name) : choices),
		...(mayBeEmpty(field)
			? [{ value: LEAVE_EMPTY, label: "Leave empty" }]
			: []),
		{ value: SKIP, label: lines === 1 ? "Skip this line" : "Skip these lines" },
	];
}
