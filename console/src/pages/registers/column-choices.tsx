import { Group, Select, Stack, Text, Title } from "@mantine/core";
import type { KindDescription } from "../../kind-description.ts";
import { givenFields } from "./form-values.ts";

/** The choice for a column that is not imported. */
const LEAVE_OUT = "-";

/** The field of each column that is none, by its heading. Null leaves the column out. */
export type ColumnChoices = Readonly<Record<string, string | null>>;

/** Asks which fields the columns are that the register does not know. */
export function ColumnFields({
	kind,
	headings,
	choices,
	onChange,
}: {
	kind: KindDescription;
	headings: readonly string[];
	choices: ColumnChoices;
	onChange: (choices: ColumnChoices) => void;
}) {
	if (headings.length === 0) return null;
	const fields = givenFields(kind);
	return (
		<Stack
			gap="xs"
			mb="md"
			component="section"
			aria-label="Columns with unknown names"
		>
			<Title order={3}>
				{headings.length === 1
					? "1 column has an unknown name"
					: `${headings.length} columns have unknown names`}
			</Title>
			<Text size="sm" c="dimmed">
				For each column of the file, choose the field that its values go to, or
				“Leave out” if they are not needed.
			</Text>
			<Group gap="sm" align="flex-end">
				{headings.map((heading) => (
					<Select
						key={heading}
						label={heading}
						placeholder="Choose a field"
						w={230}
						data={[
							{ value: LEAVE_OUT, label: "Leave out" },
							...fields.map(({ name, label }) => ({ value: name, label })),
						]}
						value={
							Object.hasOwn(choices, heading)
								? (choices[heading] ?? LEAVE_OUT)
								: null
						}
						onChange={(value) => {
							const { [heading]: _, ...others } = choices;
							onChange(
								value === null
									? others
									: {
											...others,
											[heading]: value === LEAVE_OUT ? null : value,
										},
							);
						}}
					/>
				))}
			</Group>
		</Stack>
	);
}
