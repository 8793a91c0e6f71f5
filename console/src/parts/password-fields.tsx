import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import type { MIN_PASSWORD } from "../../../src/sign-in/password-rules.ts";

/** The server's own number: another there fails the type check here. */
const MIN: typeof MIN_PASSWORD = 12;

/** The password that one has. */
export function PresentPasswordInput(props: PasswordInputProps) {
	return (
		<PasswordInput
			label="Password"
			name="password"
			autoComplete="current-password"
			// Mantine tells a screen reader of every wrong field but this kind.
			aria-invalid={Boolean(props.error)}
			{...props}
		/>
	);
}

/** A password that is being chosen, with what is asked of it. */
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
