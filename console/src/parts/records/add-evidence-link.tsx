import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { forgetReadings } from "../../queries.ts";
import { Dialog } from "../dialog.tsx";
import { ErrorState } from "../error-state.tsx";
import { useSaving } from "../use-saving.ts";

/** Asks for an address that proves a record, and stores it as evidence. */
export function AddEvidenceLink({
	opened,
	onClose,
	recordId,
}: {
	opened: boolean;
	onClose: () => void;
	recordId: string;
}) {
	return (
		<Dialog opened={opened} onClose={onClose} title="Add a link as evidence">
			<LinkForm recordId={recordId} onDone={onClose} />
		</Dialog>
	);
}

function LinkForm({
	recordId,
	onDone,
}: {
	recordId: string;
	onDone: () => void;
}) {
	const { organizationId } = useOrganization();
	const form = useForm({
		initialValues: { url: "", name: "", valid_until: "" },
		validate: {
			url: (text) => (text.trim() ? null : "Enter an address."),
			name: (text) => (text.trim() ? null : "Enter what it shows."),
		},
	});
	const saving = useSaving(
		form,
		({ url, name, valid_until }) => {
			// The types of the operation do not know `linked_record_ids`.
			const values = {
				organization_id: organizationId,
				name: name.trim(),
				url: url.trim(),
				valid_until: valid_until || null,
				linked_record_ids: [recordId],
			};
			return call("addEvidence", values);
		},
		async () => {
			onDone();
			await forgetReadings();
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack gap="sm">
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not added" />
				)}
				<TextInput
					label="Address"
					type="url"
					data-autofocus
					placeholder="https://"
					{...form.getInputProps("url")}
				/>
				<TextInput label="What it shows" {...form.getInputProps("name")} />
				<TextInput
					label="Valid until (optional)"
					type="date"
					{...form.getInputProps("valid_until")}
				/>
				<Group justify="flex-end">
					<Button variant="default" onClick={onDone}>
						Cancel
					</Button>
					<Button type="submit" loading={saving.isSaving}>
						Add the link
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
