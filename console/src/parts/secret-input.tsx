import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { useState } from "react";

/**
 * Asks for a secret, which the reader can show and hide with the button in the field. `secret` is
 * its name in the name of that button, such as "password".
 */
export function SecretInput({
	secret,
	...props
}: Omit<PasswordInputProps, "visibilityToggleButtonProps"> & {
	secret: string;
}) {
	const [isShown, setShown] = useState(false);
	return (
		<PasswordInput
			visible={isShown}
			onVisibilityChange={setShown}
			visibilityToggleFocusable
			visibilityToggleButtonProps={{
				"aria-label": `${isShown ? "Hide" : "Show"} ${secret}`,
				// The name says what the button does next, so it is not a button that stays pressed.
				"aria-pressed": undefined,
			}}
			{...props}
		/>
	);
}
