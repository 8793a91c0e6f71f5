import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { CopyField } from "../../parts/copy-field.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import {
	type Begun,
	beginTwoFactor,
	confirmTwoFactor,
} from "./account-calls.ts";
import { Dialogue } from "./dialogue.tsx";
import { PasswordStep } from "./password-step.tsx";
import { QrCode } from "./qr-code.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

type Step = "password" | "scan" | "codes";

const TITLES: Record<Step, string> = {
	password: "Turn on two-factor authentication",
	scan: "Add Assay to your authenticator app",
	codes: "Two-factor authentication is on",
};

/**
 * Turns on two-factor authentication in four steps: asks for the password, shows the key for the
 * authenticator, asks for a first code, and shows the recovery codes.
 */
export function EnableTwoFactor({
	email,
	onClose,
}: {
	email: string;
	onClose: () => void;
}) {
	const [step, setStep] = useState<Step>("password");
	const [begun, setBegun] = useState<Begun | null>(null);
	return (
		<Dialogue
			title={TITLES[step]}
			onClose={onClose}
			mustBeRead={step === "codes"}
		>
			{step === "password" && (
				<PasswordStep
					email={email}
					action="Continue"
					onSubmit={beginTwoFactor}
					onDone={(made) => {
						setBegun(made);
						setStep("scan");
					}}
					onCancel={onClose}
				>
					You need an authenticator app, such as the one in your password
					manager or on your phone. Two-factor authentication turns on after you
					enter a valid code.
				</PasswordStep>
			)}
			{step === "scan" && begun && (
				<Scan
					uri={begun.totpURI}
					onDone={() => setStep("codes")}
					onCancel={onClose}
				/>
			)}
			{step === "codes" && begun && (
				<RecoveryCodes
					email={email}
					codes={begun.backupCodes}
					onDone={() => {
						onClose();
						void forgetReadings();
					}}
				/>
			)}
		</Dialogue>
	);
}

function Scan({
	uri,
	onDone,
	onCancel,
}: {
	uri: string;
	onDone: () => void;
	onCancel: () => void;
}) {
	const form = useForm({ initialValues: { code: "" } });
	const saving = useSaving(
		form,
		({ code }) => confirmTwoFactor(code.replaceAll(/\D/g, "")),
		onDone,
	);
	const secret = new URL(uri).searchParams.get("secret") ?? "";
	// Groups of four characters are easier to read and type, and authenticator apps accept the
	// spaces.
	const key = secret.replace(/(.{4})(?=.)/g, "$1 ");
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState
						error={saving.refusal}
						title="Two-factor authentication is not on yet"
					/>
				)}
				<Text size="sm">
					Scan this code with the app, or enter the key by hand.
				</Text>
				<Group justify="center">
					<QrCode text={uri} label="QR code of the key below" />
				</Group>
				<CopyField label="Key" value={key} />
				<TextInput
					label="Code"
					description="The six digits that the app shows for Assay."
					name="code"
					inputMode="numeric"
					autoComplete="one-time-code"
					data-autofocus
					autoFocus
					{...form.getInputProps("code")}
				/>
				<Group justify="flex-end">
					<Button variant="default" onClick={onCancel}>
						Cancel
					</Button>
					<Button type="submit" loading={saving.isSaving}>
						Turn on
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
