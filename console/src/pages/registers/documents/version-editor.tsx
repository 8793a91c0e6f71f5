import {
	Button,
	Checkbox,
	Group,
	SimpleGrid,
	Stack,
	Text,
	Textarea,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useBlocker } from "@tanstack/react-router";
import { useDeferredValue, useRef } from "react";
import { call } from "../../../api.ts";
import { ErrorState } from "../../../parts/error-state.tsx";
import { useSaving } from "../../../parts/use-saving.ts";
import { forgetReadings } from "../../../queries.ts";
import { LeaveGuard } from "../leave-guard.tsx";
import { Rendered } from "./rendered.tsx";
import type { Version } from "./statuses.ts";

/** Edits a draft. What the reader sees is shown beside the text while it is written. */
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
	const shown = useDeferredValue(form.values.content);
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
				<SimpleGrid cols={{ base: 1, lg: 2 }}>
					<Textarea
						label="Text"
						description="# Heading, **bold**, *italic*, - list, 1. numbered list, > quote, [link](https://…)"
						autosize
						minRows={16}
						maxRows={40}
						styles={{
							input: { fontFamily: "var(--mantine-font-family-monospace)" },
						}}
						{...form.getInputProps("content")}
					/>
					<Stack gap={4} component="section" aria-label="Preview">
						<Text size="sm" fw={500}>
							Preview
						</Text>
						<Rendered text={shown} />
					</Stack>
				</SimpleGrid>
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
