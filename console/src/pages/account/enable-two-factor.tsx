import { Button, Divider, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { CopyField } from "../../parts/copy-field.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { SaveOnceModal, useSaveOnce } from "../../parts/save-once.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { enableTwoFactorWithPasskey } from "../../passkeys.ts";
import { forgetReadings } from "../../queries.ts";
import {
	type Begun,
	beginTwoFactor,
	confirmTwoFactor,
} from "./account-calls.ts";
import { PasswordStep } from "./password-step.tsx";
import { QrCode } from "./qr-code.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

type Step = "password" | "scan" | "codes";

const TITLES: Record<Step, string> = {
	password: "Turn on two-factor authentication",
	scan: "Set up the second factor",
	codes: "Two-factor authentication is on",
};

/**
 * Turns on two-factor authentication in four steps: asks for the password, shows the key for the
 * authenticator, asks for a first code, and shows the recovery codes. A passkey of the user can
 * take the place of the authenticator.
 */
export function EnableTwoFactor({
	email,
	hasPasskey,
	hasCodes,
	onClose,
}: {
	email: string;
	/** True if a passkey of the user can be the second factor. */
	hasPasskey: boolean;
	/** True if two-factor authentication is on already, with recovery codes. */
	hasCodes: boolean;
	onClose: () => void;
}) {
	const [step, setStep] = useState<Step>("password");
	const [begun, setBegun] = useState<Begun | null>(null);
	const codes = step === "codes" ? begun?.backupCodes : null;
	const once = useSaveOnce(codes, () => {
		onClose();
		if (codes) void forgetReadings();
	});
	useReturnFocus();
	return (
		<SaveOnceModal once={once} title={TITLES[step]}>
			{step === "password" && (
				<PasswordStep
					email={email}
					action="Continue"
					onSubmit={beginTwoFactor}
					onDone={(made) => {
						setBegun(made);
						setStep("scan");
					}}
					onCancel={once.leave}
				>
					{hasPasskey
						? "You need one of your passkeys, or an authenticator app."
						: "You need an authenticator app, such as the one in your password manager or on your phone."}{" "}
					{hasCodes
						? "You also get new recovery codes, and your current ones stop working."
						: "Two-factor authentication turns on after you have used it once. You also get recovery codes."}
				</PasswordStep>
			)}
			{step === "scan" && begun && (
				<Scan
					uri={begun.totpURI}
					hasPasskey={hasPasskey}
					onDone={() => setStep("codes")}
					onCancel={once.leave}
				/>
			)}
			{codes && <RecoveryCodes email={email} codes={codes} once={once} />}
		</SaveOnceModal>
	);
}

function Scan({
	uri,
	hasPasskey,
	onDone,
	onCancel,
}: {
	uri: string;
	hasPasskey: boolean;
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
				{hasPasskey && <UsePasskey onDone={onDone} />}
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

function UsePasskey({ onDone }: { onDone: () => void }) {
	const using = useMutation({
		mutationFn: enableTwoFactorWithPasskey,
		onSuccess: onDone,
	});
	return (
		<Stack>
			{using.isError && (
				<ErrorState
					error={using.error}
					title="Two-factor authentication is not on yet"
				/>
			)}
			<Text size="sm">
				Use a passkey that you have. You then need no authenticator app.
			</Text>
			<Button loading={using.isPending} onClick={() => using.mutate()}>
				Use a passkey
			</Button>
			<Divider label="or with an authenticator app" />
		</Stack>
	);
}
