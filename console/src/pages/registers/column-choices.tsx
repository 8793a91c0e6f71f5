import { Group, Select, Stack, Text, Title } from "@mantine/core";
import type { KindDescription } from "../../kind-description.ts";
import { givenFields } from "./form-values.ts";

/** The choice for a column that is not imported. */
const SKIP = "-";

/** The field of each column that is none, by its heading. Null skips the column. */
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
				skip the column.
			</Text>
			<Group gap="sm" align="flex-end">
				{headings.map((heading) => (
					<Select
						key={heading}
						label={heading}
						placeholder="Choose a field"
						w={230}
						data={[
							{ value: SKIP, label: "Skip this column" },
							...fields.map(({ name, label }) => ({ value: name, label })),
						]}
						value={
							Object.hasOwn(choices, heading)
								? (choices[heading] ?? SKIP)
								: null
						}
						onChange={(value) => {
							const { [heading]: _, ...others } = choices;
							onChange(
								value === null
									? others
									: {
											...others,
											[heading]: value === SKIP ? null : value,
										},
							);
						}}
					/>
				))}
			</Group>
		</Stack>
	);
}
