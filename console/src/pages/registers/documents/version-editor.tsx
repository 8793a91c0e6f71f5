import { Button, Checkbox, Group, Stack, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useRef } from "react";
import { call } from "../../../api.ts";
import { ErrorState } from "../../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../../parts/field-labels.ts";
import { useLeaveGuard } from "../../../parts/leave-guard.tsx";
import { useSaving } from "../../../parts/use-saving.ts";
import { forgetReadings } from "../../../queries.ts";
import { ContentField } from "./content-field.tsx";
import type { Version } from "./statuses.ts";

/** A version that nobody has saved yet, with the text that it begins with. */
export interface NewVersion {
	document_id: string;
	content: string;
	/** True if the document has no version before it. */
	isFirst: boolean;
}

/** Edits a draft. A new version is stored when it is saved. */
export function VersionEditor({
	version,
	onClose,
	onSaved,
}: {
	version: Version | NewVersion;
	onClose: () => void;
	onSaved?: (id: string) => unknown;
}) {
	const stored = "id" in version ? version : undefined;
	const isFirst =
		"id" in version ? version.version_number === 1 : version.isFirst;
	const form = useForm({
		initialValues: {
			content: version.content,
			changelog: stored?.changelog ?? "",
			asks_again: stored?.asks_again ?? false,
		},
	});
	const isSaved = useRef(false);
	const saving = useSaving(
		form,
		({ content, changelog, asks_again }) => {
			const values = {
				content,
				changelog: changelog.trim() || null,
				asks_again,
			};
			return stored
				? call("updateDocumentVersion", {
						...values,
						id: stored.id,
						if_updated_at: stored.updated_at,
					})
				: call("createDraftDocumentVersion", {
						...values,
						document_id: version.document_id,
					});
		},
		async ({ document_version: saved }) => {
			isSaved.current = true;
			await forgetReadings();
			await onSaved?.(saved.id);
			onClose();
		},
	);
	const element = useRef<HTMLFormElement>(null);
	const question = useLeaveGuard({
		area: element,
		isNeeded: () => form.isDirty() && !isSaved.current,
		isSaving: saving.isSaving,
	});
	return (
		<form ref={element} noValidate onSubmit={saving.submit}>
			{question}
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="The text was not saved" />
				)}
				<ContentField
					value={form.values.content}
					error={form.errors.content}
					onChange={(content) => form.setFieldValue("content", content)}
				/>
				{(!isFirst || stored?.changelog) && (
					<Textarea
						label={`${FIELD_LABELS.document.changelog} (optional)`}
						autosize
						minRows={2}
						maxRows={8}
						{...form.getInputProps("changelog")}
					/>
				)}
				{!isFirst && (
					<Checkbox
						label={FIELD_LABELS.document.asks_again}
						{...form.getInputProps("asks_again", { type: "checkbox" })}
					/>
				)}
				<Group justify="flex-end">
					<Button variant="default" onClick={onClose}>
						Cancel
					</Button>
					<Button type="submit" loading={saving.isSaving}>
						Save the text
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
