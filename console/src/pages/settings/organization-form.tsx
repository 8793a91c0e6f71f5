import { Stack, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { call, type OutputOf } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { SaveButton } from "../../parts/save-button.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";

export type Organization = OutputOf<"getOrganization">["organization"];

/** Edits the organization's name and description. */
export function OrganizationForm({
	organization,
}: {
	organization: Organization;
}) {
	const form = useForm({
		initialValues: {
			name: organization.name,
			description: organization.description ?? "",
		},
	});
	const saving = useSaving(
		form,
		({ name, description }) =>
			call("updateOrganization", {
				organization_id: organization.id,
				name: name.trim(),
				description: description.trim() || null,
			}),
		async (saved) => {
			const { name, description } = saved.organization;
			await forgetReadings();
			form.setInitialValues({ name, description: description ?? "" });
			form.reset();
			notifications.show({ message: "The organization is saved." });
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not saved" />
				)}
				<TextInput
					label={FIELD_LABELS.organization.name}
					withAsterisk
					autoComplete="organization"
					maw={480}
					{...form.getInputProps("name")}
				/>
				<Textarea
					label={FIELD_LABELS.organization.description}
					description="What the organization does. AI clients read this too."
					autosize
					minRows={2}
					maxRows={10}
					{...form.getInputProps("description")}
				/>
				<SaveButton isSaving={saving.isSaving} isDirty={form.isDirty()} />
			</Stack>
		</form>
	);
}
