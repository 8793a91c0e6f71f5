import { Button, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { ErrorState } from "../../parts/error-state.tsx";
import { PresentPasswordInput } from "../../parts/password-fields.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { AccountName } from "./account-name.tsx";

/** In a dialog: asks for the present password before something that a borrowed session must not do. */
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
	/** What will happen. */
	children: ReactNode;
	/** What the button does. */
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
					<ErrorState error={saving.refusal} title="This did not work" />
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
