import {
	Button,
	Checkbox,
	CloseButton,
	Fieldset,
	Group,
	Select,
	Text,
} from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { type AnyRecord, countOf, fieldOf } from "../../kinds.ts";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import type { Selection } from "../../parts/selection.ts";
import { useUndoableChange } from "./change-record.ts";
import { FieldInput } from "./field-input.tsx";
import { bulkFields, type FormValue, toStored } from "./form-values.ts";

/** A field that is changed, and the value that it gets. */
interface Change {
	/** Null while no field is chosen. */
	name: string | null;
	value: FormValue;
	/** True if the field gets no value. */
	isRemoved: boolean;
}

const NO_CHANGE: Change = { name: null, value: null, isRemoved: false };

/** Changes one or several fields of the selected records, and offers to undo it afterwards. */
export function ChangeSelected({
	kind,
	organizationId,
	selection,
	onClose,
}: {
	kind: KindDescription;
	organizationId: string;
	selection: Selection<AnyRecord>;
	onClose: () => void;
}) {
	const [changes, setChanges] = useState<readonly Change[]>([NO_CHANGE]);
	const isReady = changes.every(isWhole);
	const all = bulkFields(kind);
	const values = Object.fromEntries(
		changes.flatMap(({ name, value, isRemoved }) => {
			const field = name && fieldOf(kind, name);
			return field ? [[name, isRemoved ? null : toStored(field, value)]] : [];
		}),
	);
	const { request, kept, undo } = useUndoableChange(kind, () => values);
	const set = (at: number, change: Partial<Change>) =>
		setChanges(changes.with(at, { ...(changes[at] ?? NO_CHANGE), ...change }));
	return (
		<BulkDialog
			title={`Change ${countOf(kind, selection.rows.length)}`}
			action="Change"
			done={(count) => `${countOf(kind, count)} changed`}
			selection={selection}
			onClose={onClose}
			request={isReady ? request : undefined}
			kept={kept}
			undo={undo}
		>
			{changes.map((change, at) => (
				<ChangedField
					// biome-ignore lint/suspicious/noArrayIndexKey: the place is what tells them apart.
					key={at}
					kind={kind}
					organizationId={organizationId}
					change={change}
					offered={all.filter(
						({ name }) =>
							name === change.name || changes.every((one) => one.name !== name),
					)}
					onChange={(part) => set(at, part)}
					onRemove={
						changes.length > 1
							? () => setChanges(changes.toSpliced(at, 1))
							: undefined
					}
				/>
			))}
			{isReady && changes.length < all.length && (
				<Group>
					<Button
						variant="subtle"
						size="compact-sm"
						leftSection={<IconPlus size={16} aria-hidden />}
						onClick={() => setChanges([...changes, NO_CHANGE])}
					>
						Change another field
					</Button>
				</Group>
			)}
		</BulkDialog>
	);
}

function ChangedField({
	kind,
	organizationId,
	change: { name, value, isRemoved },
	offered,
	onChange,
	onRemove,
}: {
	kind: KindDescription;
	organizationId: string;
	change: Change;
	/** The fields that the dialog does not change yet. */
	offered: readonly FieldDescription[];
	onChange: (part: Partial<Change>) => void;
	/** Leaves the field as it is. Absent if it is the only one. */
	onRemove: (() => void) | undefined;
}) {
	const field = name === null ? undefined : fieldOf(kind, name);
	return (
		<Fieldset
			variant="unstyled"
			aria-label={field ? `Change ${field.label}` : "Change a field"}
		>
			<Group align="flex-end" gap={4} mb="xs">
				<Select
					label="Field"
					placeholder="Choose a field"
					flex={1}
					data={offered.map((one) => ({ value: one.name, label: one.label }))}
					allowDeselect={false}
					value={name}
					onChange={(chosen) => onChange({ ...NO_CHANGE, name: chosen })}
				/>
				{onRemove && (
					<CloseButton
						size={36}
						aria-label={`Do not change ${field?.label ?? "another field"}`}
						onClick={onRemove}
					/>
				)}
			</Group>
			{field && !isRemoved && (
				<FieldInput
					key={name}
					field={withoutHelp(field)}
					organizationId={organizationId}
					kind={kind}
					value={value}
					onChange={(given) => onChange({ value: given })}
				/>
			)}
			{field?.type === "references" && !isRemoved && (
				<Text size="sm" c="dimmed" mt="xs">
					These replace the ones that the selected {kind.nouns} have now.
				</Text>
			)}
			{field?.isNullable && (
				<Checkbox
					mt="xs"
					label={`Remove the value from the selected ${kind.nouns}`}
					checked={isRemoved}
					onChange={({ currentTarget }) =>
						onChange({ isRemoved: currentTarget.checked })
					}
				/>
			)}
		</Fieldset>
	);
}

/** True if a field is chosen, with a value or expressly without one. */
const isWhole = ({ name, value, isRemoved }: Change) =>
	name !== null && (isRemoved || isFilled(value));

const isFilled = (value: FormValue) =>
	Array.isArray(value) ? value.length > 0 : value !== null && value !== "";

/** The dialog names the field, so that its help text is not needed. */
const withoutHelp = (field: FieldDescription): FieldDescription => ({
	...field,
	help: field.label,
});
