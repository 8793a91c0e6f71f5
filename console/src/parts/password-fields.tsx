import type { PasswordInputProps } from "@mantine/core";
import type { MIN_PASSWORD } from "../../../src/sign-in/password-rules.ts";
import { SecretInput } from "./secret-input.tsx";

/** The server's minimum length. If the server changes it, the type check fails here. */
const MIN: typeof MIN_PASSWORD = 12;

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
			description={`At least ${MIN} characters. Four unrelated words make a good password.`}
			name="new-password"
			autoComplete="new-password"
			{...props}
		/>
	);
}
