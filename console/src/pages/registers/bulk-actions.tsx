import { Button, Select, Text } from "@mantine/core";
import { useState } from "react";
import type { OperationName } from "../../api.ts";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { type AnyRecord, countOf, fieldOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { BulkBar } from "../../parts/bulk-bar.tsx";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import { ExportSelected } from "../../parts/records/export-button.tsx";
import { LinkSelected } from "../../parts/records/link-selected.tsx";
import { isLinkedKind } from "../../parts/records/linkable.tsx";
import {
	deleteRecord,
	updateRecord,
} from "../../parts/records/register-calls.ts";
import type { Matching, Selection } from "../../parts/selection.ts";
import { ArchiveSelected, canBeArchived } from "./archive.tsx";
import { FieldInput } from "./field-input.tsx";
import { bulkFields, type FormValue, toStored } from "./form-values.ts";

interface Props {
	kind: KindDescription;
	organizationId: string;
	selection: Selection<AnyRecord>;
}

/** The actions on the selected records of a register. */
export function BulkActions({
	kind,
	organizationId,
	selection,
	matching,
}: Props & { matching: Matching<AnyRecord> | undefined }) {
	const { mayAdmin } = useOrganization();
	const [open, setOpen] = useState<"change" | "archive" | "delete" | null>(
		null,
	);
	const props = { kind, organizationId, selection };
	const isOfArchived = selection.rows.some(({ archived_at }) => archived_at);
	const close = () => setOpen(null);
	return (
		<>
			<BulkBar selection={selection} matching={matching}>
				<Button
					variant="default"
					size="compact-sm"
					onClick={() => setOpen("change")}
				>
					Change a field …
				</Button>
				{isLinkedKind(kind.kind) && (
					<LinkSelected
						organizationId={organizationId}
						selection={selection}
						counted={(count) => countOf(kind, count)}
					/>
				)}
				{canBeArchived(kind) && (
					<Button
						variant="default"
						size="compact-sm"
						onClick={() => setOpen("archive")}
					>
						{isOfArchived ? "Take back into use …" : "Archive …"}
					</Button>
				)}
				<ExportSelected
					operation={`list${kind.tool.many}` as OperationName}
					organizationId={organizationId}
					selection={selection}
				/>
				{mayAdmin && (
					<Button
						variant="default"
						size="compact-sm"
						c="var(--mantine-color-error)"
						onClick={() => setOpen("delete")}
					>
						Delete …
					</Button>
				)}
			</BulkBar>
			{open === "change" && <Change {...props} onClose={close} />}
			{open === "archive" && (
				<ArchiveSelected {...props} isBack={isOfArchived} onClose={close} />
			)}
			{open === "delete" && <Delete {...props} onClose={close} />}
		</>
	);
}

function Change({
	kind,
	organizationId,
	selection,
	onClose,
}: Props & { onClose: () => void }) {
	const fields = bulkFields(kind);
	const [name, setName] = useState(fields[0]?.name ?? "");
	const [value, setValue] = useState<FormValue>(null);
	const field = fieldOf(kind, name);
	const isReady = field && (isFilled(value) || field.isNullable);
	return (
		<BulkDialog
			title={`Change ${countOf(kind, selection.rows.length)}`}
			action="Change"
			done={(count) => `${countOf(kind, count)} changed`}
			selection={selection}
			onClose={onClose}
			request={
				isReady
					? ({ id }) =>
							updateRecord(kind, id, { [name]: toStored(field, value) })
					: undefined
			}
		>
			<Select
				label="Field"
				data={fields.map((one) => ({ value: one.name, label: one.label }))}
				allowDeselect={false}
				value={name}
				onChange={(chosen) => {
					setName(chosen ?? "");
					setValue(null);
				}}
			/>
			{field && (
				<FieldInput
					key={name}
					field={withoutHelp(field)}
					organizationId={organizationId}
					kind={kind}
					value={value}
					onChange={setValue}
				/>
			)}
			{field?.type === "references" && (
				<Text size="sm" c="dimmed">
					These replace the ones that the selected {kind.nouns} have now.
				</Text>
			)}
			{field?.isNullable && !isFilled(value) && (
				<Text size="sm" c="dimmed">
					Leave it empty to remove the value from the selected {kind.nouns}.
				</Text>
			)}
		</BulkDialog>
	);
}

function Delete({ kind, selection, onClose }: Props & { onClose: () => void }) {
	const count = countOf(kind, selection.rows.length);
	return (
		<BulkDialog
			title={`Delete ${count}?`}
			action={`Delete ${count}`}
			done={(deleted) => `${countOf(kind, deleted)} deleted`}
			selection={selection}
			onClose={onClose}
			request={({ id }) => deleteRecord(kind, id)}
			isDangerous
		>
			<Text>
				They are deleted for good, with their links to other records. A record
				that another one refers to is not deleted.
			</Text>
		</BulkDialog>
	);
}

const isFilled = (value: FormValue) =>
	Array.isArray(value) ? value.length > 0 : value !== null && value !== "";

/** The dialog names the field, so that its help text is not needed. */
const withoutHelp = (field: FieldDescription): FieldDescription => ({
	...field,
	help: field.label,
});
