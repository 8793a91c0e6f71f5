import { Stack, Text } from "@mantine/core";
import { useRef, useState } from "react";
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
import { askForValue } from "./messages.ts";

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
	/** True once the reader wanted to go on, so that a missing treatment is an error. */
	const [isAsked, setAsked] = useState(false);
	const fields = useRef<HTMLDivElement>(null);
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
			request={request}
			isReady={() => {
				setAsked(true);
				if (values.treatment !== null) return true;
				fields.current
					?.querySelector<HTMLElement>("[data-path=treatment]")
					?.focus();
				return false;
			}}
			undo={undo}
			onClose={onClose}
		>
			<Text size="sm">
				{only
					? `“${titleOf(kind, only)}” then no longer counts as “Not decided”.`
					: "They then no longer count as “Not decided”. A field that is empty stays as it is in each risk."}
			</Text>
			<Stack ref={fields}>
				{FIELDS.map((field) => (
					<FieldInput
						key={field.name}
						data-path={field.name}
						field={{ ...field, help: field.label }}
						organizationId={organizationId}
						kind={kind}
						value={values[field.name] ?? null}
						onChange={(value) => setValues({ ...values, [field.name]: value })}
						error={
							isAsked &&
							field.name === "treatment" &&
							values.treatment === null &&
							askForValue(field)
						}
					/>
				))}
			</Stack>
		</BulkDialog>
	);
}
