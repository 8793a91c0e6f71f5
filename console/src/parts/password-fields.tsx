import type { PasswordInputProps } from "@mantine/core";
import { MIN_PASSWORD } from "../../../src/sign-in/password-length.ts";
import { SecretInput } from "./secret-input.tsx";

/** Asks for the current password. */
export function PresentPasswordInput(props: PasswordInputProps) {
	return (
		<SecretInput
			secret="password"
			label="Password"
			name="password"
			autoComplete="current-password"
			// Mantine sets this attribute on every field except password fields.
			aria-invalid={Boolean(props.error)}
			{...props}
		/>
	);
}

/** Asks for a new password and shows its rules. */
export function NewPasswordInput(props: PasswordInputProps) {
	return (
		<PresentPasswordInput
			description={`At least ${MIN_PASSWORD} characters. Four unrelated words make a good password.`}
			name="new-password"
			autoComplete="new-password"
			{...props}
		/>
	);
}
