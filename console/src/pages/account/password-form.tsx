import { Button, Checkbox, Group, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { ErrorState } from "../../parts/error-state.tsx";
import {
	NewPasswordInput,
	PresentPasswordInput,
} from "../../parts/password-fields.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { changePassword } from "./account-calls.ts";
import { AccountName } from "./account-name.tsx";

export function PasswordForm({ email }: { email: string }) {
	const form = useForm({
		initialValues: { password: "", new_password: "", ends_others: true },
	});
	const saving = useSaving(form, changePassword, async () => {
		form.reset();
		notifications.show({ message: "Your password is changed." });
		await forgetReadings();
	});
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack maw={480}>
				{saving.refusal && (
					<ErrorState
						error={saving.refusal}
						title="Your password was not changed"
					/>
				)}
				<AccountName email={email} />
				<PresentPasswordInput
					label="Current password"
					{...form.getInputProps("password")}
				/>
				<NewPasswordInput
					label="New password"
					{...form.getInputProps("new_password")}
				/>
				<Checkbox
					label="Sign out everywhere else"
					description="Choose this if somebody else may know the old password. API tokens keep working."
					{...form.getInputProps("ends_others", { type: "checkbox" })}
				/>
				<Group>
					<Button type="submit" loading={saving.isSaving}>
						Change the password
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
