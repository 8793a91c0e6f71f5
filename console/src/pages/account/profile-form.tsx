import { Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { call, type OutputOf } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { SaveButton } from "../../parts/save-button.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";

export type Profile = OutputOf<"getProfile">["profile"];

/** Changes the user's own name, and shows the address. */
export function ProfileForm({ profile }: { profile: Profile }) {
	const form = useForm({ initialValues: { name: profile.name } });
	const saving = useSaving(
		form,
		({ name }) => call("updateProfile", { name: name.trim() }),
		async (saved) => {
			await forgetReadings();
			form.setInitialValues({ name: saved.profile.name });
			form.reset();
			notifications.show({ message: "Your name is saved." });
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack maw={480}>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not saved" />
				)}
				<TextInput
					label="Name"
					description="Your colleagues and the audit log see this name."
					name="name"
					autoComplete="name"
					{...form.getInputProps("name")}
				/>
				<TextInput
					label="E-mail address"
					description="You sign in with it. It cannot be changed."
					type="email"
					readOnly
					variant="filled"
					value={profile.email}
				/>
				<SaveButton isSaving={saving.isSaving} isDirty={form.isDirty()} />
			</Stack>
		</form>
	);
}
