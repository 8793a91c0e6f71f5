import { Button, Checkbox, Group, Stack, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useBlocker } from "@tanstack/react-router";
import { useRef } from "react";
import { call } from "../../../api.ts";
import { ErrorState } from "../../../parts/error-state.tsx";
import { useSaving } from "../../../parts/use-saving.ts";
import { forgetReadings } from "../../../queries.ts";
import { LeaveGuard } from "../leave-guard.tsx";
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
	const isUnsaved = () => form.isDirty() && !isSaved.current;
	const guard = useBlocker({
		shouldBlockFn: isUnsaved,
		enableBeforeUnload: isUnsaved,
		withResolver: true,
	});
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
	return (
		<form noValidate onSubmit={saving.submit}>
			<LeaveGuard guard={guard} />
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
