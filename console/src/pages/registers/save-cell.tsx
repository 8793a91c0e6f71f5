import { Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { sentenceOf } from "../../parts/error-state.tsx";
import { updateRecord } from "../../parts/records/register-calls.ts";
import { forgetReadings } from "../../queries.ts";
import { type FormValue, toStored } from "./form-values.ts";

/** The value of one field in one row of a list. */
export interface Cell {
	kind: KindDescription;
	field: FieldDescription;
	record: AnyRecord;
}

/** Saves a value of a cell. `onDone` is called when the list shows the new value. */
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
		onSuccess: async () => {
			await forgetReadings();
			onDone();
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
