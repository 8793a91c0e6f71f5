import { Textarea, TextInput } from "@mantine/core";
import type { GetInputPropsReturnType } from "@mantine/form";
import { FIELD_LABELS } from "../../parts/field-labels.ts";

const END = "-----END CERTIFICATE-----";

/** Returns the certificates of a text with several in PEM. */
export function certificatesIn(text: string): string[] {
	return text
		.split(END)
		.map((part) => part.trim())
		.filter((part) => part !== "")
		.map((part) => `${part}\n${END}`);
}

/** Returns the text that shows certificates in the form. */
export function certificatesText(pems: readonly string[]): string {
	return pems.map((pem) => pem.trim()).join("\n");
}

/** The fields of a provider that only SAML has. */
export function SamlFields({
	inputProps,
}: {
	inputProps: (
		field: "sign_in_url" | "sign_out_url" | "certificates",
	) => GetInputPropsReturnType;
}) {
	return (
		<>
			<TextInput
				label={FIELD_LABELS.identity_provider.sign_in_url}
				description="The provider's single sign-on service with the binding HTTP-Redirect"
				withAsterisk
				{...inputProps("sign_in_url")}
			/>
			<Textarea
				label={FIELD_LABELS.identity_provider.certificates}
				description="In PEM, at most five. Each may sign. Keep the old one beside the new one while the provider replaces its key."
				withAsterisk
				spellCheck={false}
				autosize
				minRows={3}
				maxRows={8}
				styles={{
					input: {
						fontFamily: "var(--mantine-font-family-monospace)",
						// A line of a certificate has 64 characters.
						fontSize: "var(--mantine-font-size-xs)",
					},
				}}
				{...inputProps("certificates")}
			/>
			<TextInput
				label={FIELD_LABELS.identity_provider.sign_out_url}
				description="If the provider has such a page, the menu of the account leads there. It may be empty."
				{...inputProps("sign_out_url")}
			/>
		</>
	);
}
