import { Text } from "@mantine/core";
import { useState } from "react";
import {
	type AnyRecord,
	countOf,
	describeKind,
	fieldOf,
	titleOf,
} from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import type { Selection } from "../../parts/selection.ts";
import { useUndoableChange } from "./change-record.ts";
import { FieldInput } from "./field-input.tsx";
import type { FormValues } from "./form-values.ts";
import { isUndecided } from "./hints.ts";

const kind = describeKind("risk");
const FIELDS = ["treatment", "residual_likelihood", "residual_impact"].flatMap(
	(name) => fieldOf(kind, name) ?? [],
);

/**
 * Asks for the treatment of the suggested risks among the selected ones, and for their scores after
 * it. This can be undone.
 */
export default function DecideRisks({
	selection,
	onClose,
}: {
	selection: Selection<AnyRecord>;
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	const [rows] = useState(() => selection.rows.filter(isUndecided));
	const [only] = rows.length === 1 ? rows : [];
	const [values, setValues] = useState<FormValues>({
		treatment: null,
		residual_likelihood: (only?.residual_likelihood as number) ?? null,
		residual_impact: (only?.residual_impact as number) ?? null,
	});
	const given = Object.entries(values).filter(([, value]) => value !== null);
	const { request, undo } = useUndoableChange(kind, () =>
		Object.fromEntries(given),
	);
	return (
		<BulkDialog
			title={`Mark ${countOf(kind, rows.length)} as decided`}
			action="Mark as decided"
			done={(count) => `${countOf(kind, count)} marked as decided`}
			selection={selection}
			rows={rows}
			request={values.treatment === null ? undefined : request}
			undo={undo}
			onClose={onClose}
		>
			<Text size="sm">
				{only
					? `“${titleOf(kind, only)}” then no longer counts as “Not decided”.`
					: "They then no longer count as “Not decided”. A field that is empty stays as it is in each risk."}
			</Text>
			{FIELDS.map((field) => (
				<FieldInput
					key={field.name}
					field={{ ...field, help: field.label }}
					organizationId={organizationId}
					kind={kind}
					value={values[field.name] ?? null}
					onChange={(value) => setValues({ ...values, [field.name]: value })}
				/>
			))}
		</BulkDialog>
	);
}
