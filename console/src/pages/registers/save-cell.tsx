import { Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { type AnyRecord, titleOf } from "../../kinds.ts";
import { sentenceOf } from "../../parts/error-state.tsx";
import { updateRecord } from "../../parts/records/register-calls.ts";
import { showWithUndo } from "../../parts/undo.tsx";
import { forgetReadings } from "../../queries.ts";
import { formerValues } from "./change-record.ts";
import { type FormValue, toStored } from "./form-values.ts";

/** The value of one field in one row of a list. */
export interface Cell {
	kind: KindDescription;
	field: FieldDescription;
	record: AnyRecord;
}

/**
 * Saves a value of a cell, and offers to undo it: the row may have gone to another page of the list.
 * `onDone` is called when the list shows the new value.
 */
export const useCellSaving = (
	{ kind, field, record }: Cell,
	onDone: () => void,
) =>
	useMutation({
		mutationFn: (value: FormValue) =>
			updateRecord(kind, record.id, {
				[field.name]: toStored(field, value),
				// Somebody else may have changed the record since the list was loaded.
				if_updated_at: record.updated_at,
			}),
		onSuccess: async (changed) => {
			await forgetReadings();
			onDone();
			const what = `${field.label} of “${titleOf(kind, record)}”`;
			showWithUndo(`${what} changed.`, {
				id: "cell",
				rows: [record],
				nameOf: (row) => titleOf(kind, row),
				request: async (row) => {
					await updateRecord(kind, row.id, {
						...formerValues(kind, row, changed),
						if_updated_at: changed.updated_at,
					});
					await forgetReadings();
				},
				done: () => `${what} has its former value again.`,
			});
		},
		onError: forgetReadings,
	});

/** Says why the value was not saved. */
export function NotSaved({ error }: { error: unknown }) {
	if (!error) return null;
	return (
		<Text size="sm" c="var(--mantine-color-error)" role="alert" maw={260}>
			{sentenceOf(error)}
		</Text>
	);
}
