import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import type { MIN_PASSWORD } from "../../../../src/access/password.ts";

/** The server's own number: another there fails the type check here. */
const MIN: typeof MIN_PASSWORD = 12;

/** A password that is being chosen, with what is asked of it. */
export function NewPasswordInput(props: PasswordInputProps) {
	return (
		<PasswordInput
			label="Password"
			description={`At least ${MIN} characters. A few words that only you would put together are good.`}
			name="new-password"
			autoComplete="new-password"
			visibilityToggleButtonProps={{ "aria-label": "Show or hide it" }}
			{...props}
		/>
	);
}
