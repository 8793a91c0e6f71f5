import { Button, Checkbox, Group, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { ErrorState } from "../../parts/error-state.tsx";
import {
	NewPasswordInput,
	PresentPasswordInput,
} from "../../parts/password-fields.tsx";
import { showFailure } from "../../parts/show-failure.ts";
import {
	TokenChecklist,
	useTokenChecklist,
} from "../../parts/token-checklist.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { changePassword, revokeTokens } from "./account-calls.ts";
import { AccountName } from "./account-name.tsx";

/** Changes the user's own password. */
export function PasswordForm({ email }: { email: string }) {
	const form = useForm({
		initialValues: { password: "", new_password: "", ends_others: true },
	});
	const checklist = useTokenChecklist("none");
	const saving = useSaving(form, changePassword, async () => {
		form.reset();
		notifications.show({ message: "Your password is changed." });
		await revokeTokens(checklist.tickedIds).catch((error: Error) =>
			showFailure(
				"Your API tokens still work",
				`${error.message}. Revoke them under Settings, API tokens.`,
				{ stays: true },
			),
		);
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
					description="Choose this if somebody else may know the old password."
					{...form.getInputProps("ends_others", { type: "checkbox" })}
				/>
				<TokenChecklist
					checklist={checklist}
					label="API tokens to revoke"
					description="Tokens keep working unless you tick them. Tick those that somebody else may know. Programs that use a revoked token stop working."
				/>
				<Group>
					<Button
						type="submit"
						loading={saving.isSaving || checklist.isPending}
					>
						Change the password
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
