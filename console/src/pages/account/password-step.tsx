import { Button, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { ErrorState } from "../../parts/error-state.tsx";
import { PresentPasswordInput } from "../../parts/password-fields.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { AccountName } from "./account-name.tsx";

/**
 * Asks for the current password in a dialog, before an action that must not be possible for
 * somebody who finds the browser unattended.
 */
export function PasswordStep<Result>({
	email,
	children,
	action,
	isDangerous = false,
	onSubmit,
	onDone,
	onCancel,
}: {
	email: string;
	/** Text that says what will happen. */
	children: ReactNode;
	/** The label of the button. */
	action: string;
	isDangerous?: boolean;
	onSubmit: (password: string) => Promise<Result>;
	onDone: (result: Result) => unknown;
	onCancel: () => void;
}) {
	const form = useForm({ initialValues: { password: "" } });
	const saving = useSaving(form, ({ password }) => onSubmit(password), onDone);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Nothing was changed" />
				)}
				<Text size="sm" component="div">
					{children}
				</Text>
				<AccountName email={email} />
				<PresentPasswordInput
					label="Your password"
					data-autofocus
					{...form.getInputProps("password")}
				/>
				<Group justify="flex-end">
					<Button variant="default" onClick={onCancel}>
						Cancel
					</Button>
					<Button
						type="submit"
						loading={saving.isSaving}
						{...(isDangerous ? { color: "red.9" } : {})}
					>
						{action}
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
