import { Button, Checkbox, Group, Stack, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useRef } from "react";
import { call } from "../../../api.ts";
import { ErrorState } from "../../../parts/error-state.tsx";
import { useLeaveGuard } from "../../../parts/leave-guard.tsx";
import { useSaving } from "../../../parts/use-saving.ts";
import { forgetReadings } from "../../../queries.ts";
import { ContentField } from "./content-field.tsx";
import type { Version } from "./statuses.ts";

/** Edits a draft. */
export function VersionEditor({
	version,
	onClose,
}: {
	version: Version;
	onClose: () => void;
}) {
	const form = useForm({
		initialValues: {
			content: version.content,
			changelog: version.changelog ?? "",
			asks_again: version.asks_again,
		},
	});
	const isSaved = useRef(false);
	const saving = useSaving(
		form,
		({ content, changelog, asks_again }) =>
			call("updateDocumentVersion", {
				id: version.id,
				content,
				changelog: changelog.trim() || null,
				asks_again,
				if_updated_at: version.updated_at,
			}),
		async () => {
			isSaved.current = true;
			await forgetReadings();
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
				<Textarea
					label="What is new (optional)"
					autosize
					minRows={2}
					maxRows={8}
					{...form.getInputProps("changelog")}
				/>
				<Checkbox
					label="Ask those to sign again who signed the version before"
					{...form.getInputProps("asks_again", { type: "checkbox" })}
				/>
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
