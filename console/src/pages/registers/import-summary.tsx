import { Alert, Button, Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { fieldOf } from "../../kinds.ts";
import { columnLabel } from "./import-lines.tsx";

type Plan = OutputOf<"importRecords">;

/** Says how many lines the import would add, change and skip, and what it does not read. */
export function Summary({
	plan,
	waiting,
	kind,
}: {
	/** The plan without the lines that wait for an answer. */
	plan: Plan;
	waiting: number;
	kind: KindDescription;
}) {
	const { add, update, unchanged, skipped, wrong } = plan;
	const { known_names, ignored_columns, skipped_by_value } = plan;
	const lines = plan.lines.length + waiting;
	const parts = [
		`${add.toLocaleString()} to add`,
		`${update.toLocaleString()} to change`,
		`${unchanged.toLocaleString()} unchanged`,
		...(skipped > 0 ? [`${skipped.toLocaleString()} to skip`] : []),
		`${wrong.toLocaleString()} wrong`,
		...(waiting > 0
			? [`${waiting.toLocaleString()} waiting for your choice above`]
			: []),
	];
	return (
		<>
			<Text role="status">
				{lines === 1 ? "1 line" : `${lines.toLocaleString()} lines`}:{" "}
				{parts.join(", ")}.
			</Text>
			{wrong > 0 && (
				<Alert
					color="red"
					variant="outline"
					title={
						wrong === 1
							? "1 line is wrong"
							: `${wrong.toLocaleString()} lines are wrong`
					}
				>
					Fix {wrong === 1 ? "this line" : "these lines"} and upload the file
					again, or skip {wrong === 1 ? "it" : "them"} below.
				</Alert>
			)}
			{known_names > skipped - skipped_by_value && (
				<Alert
					color="orange"
					variant="outline"
					title={
						known_names === 1
							? "1 line has a name that is already in the register"
							: `${known_names.toLocaleString()} lines have names that are already in the register`
					}
				>
					{known_names === 1
						? `It would add another ${kind.noun} of the same name. Skip it below.`
						: `They would add other ${kind.nouns} of the same names. Skip them below.`}{" "}
					To change the existing {known_names === 1 ? kind.noun : kind.nouns}{" "}
					instead, choose the name in “Find existing records by” above.
				</Alert>
			)}
			{ignored_columns.length > 0 && (
				<Text size="sm" c="dimmed">
					These columns are not imported, because Assay sets their values:{" "}
					{ignored_columns
						.map((heading) => columnLabel(kind, heading))
						.join(", ")}
					.
				</Text>
			)}
		</>
	);
}

/** Says which columns are read by another word for their field, and lets the reader change it. */
export function GuessedColumns({
	kind,
	columns,
	onChange,
}: {
	kind: KindDescription;
	columns: Plan["guessed_columns"];
	onChange: (fields: Record<string, string>) => void;
}) {
	if (columns.length === 0) return null;
	const guesses = columns.map(
		({ heading, field }) =>
			`“${heading}” is ${fieldOf(kind, field)?.label ?? field}`,
	);
	return (
		<Text size="sm" mb="md">
			These columns were matched by meaning: {guesses.join(", ")}.{" "}
			<Button
				variant="subtle"
				size="compact-sm"
				onClick={() =>
					onChange(
						Object.fromEntries(
							columns.map(({ heading, field }) => [heading, field]),
						),
					)
				}
			>
				Choose other fields
			</Button>
		</Text>
	);
}
