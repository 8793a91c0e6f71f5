import {
	Button,
	Group,
	Select,
	Stack,
	Textarea,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { type Snapshot, TYPES } from "./snapshot-words.ts";

/** Asks what to keep, takes the snapshot and opens it. */
export function TakeSnapshot({ onClose }: { onClose: () => void }) {
	const { organizationId } = useOrganization();
	const navigate = useNavigate();
	useReturnFocus();
	const form = useForm({
		initialValues: {
			name: "",
			type: "ALL" as Snapshot["type"],
			description: "",
		},
		validate: {
			name: (name) => (name.trim() ? null : "Enter a name."),
		},
	});
	const saving = useSaving(
		form,
		({ name, type, description }) =>
			call("takeSnapshot", {
				organization_id: organizationId,
				name: name.trim(),
				type,
				description: description.trim() || null,
			}),
		async ({ snapshot }) => {
			onClose();
			await forgetReadings();
			await navigate({
				to: "/o/$org/snapshots/$id",
				params: { org: organizationId, id: snapshot.id },
				ignoreBlocker: true,
			});
		},
	);
	return (
		<Dialog opened onClose={onClose} title="Take a snapshot">
			<form noValidate onSubmit={saving.submit}>
				<Stack gap="sm">
					{saving.refusal && (
						<ErrorState error={saving.refusal} title="Not taken" />
					)}
					<TextInput
						label="Name"
						description="What it is for, such as an audit"
						withAsterisk
						data-autofocus
						maxLength={200}
						{...form.getInputProps("name")}
					/>
					<Select
						label="What to keep"
						allowDeselect={false}
						data={Object.entries(TYPES).map(([value, label]) => ({
							value,
							label,
						}))}
						{...form.getInputProps("type")}
					/>
					<Textarea
						label="Description"
						autosize
						minRows={2}
						maxRows={8}
						maxLength={5000}
						{...form.getInputProps("description")}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							Take the snapshot
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
