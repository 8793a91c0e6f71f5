import { Alert, Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { SaveOnceModal, useSaveOnce } from "../../parts/save-once.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { forgetReadings } from "../../queries.ts";
import {
	disableTwoFactor,
	recoveryCodesLeftQuery,
	renewRecoveryCodes,
} from "./account-calls.ts";
import { Section } from "./account-section.tsx";
import { Dialogue } from "./dialogue.tsx";
import { EnableTwoFactor } from "./enable-two-factor.tsx";
import { PasswordStep } from "./password-step.tsx";
import type { Profile } from "./profile-form.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

type Dialog = "enable" | "renew" | "disable";

function factorsInWords(hasApp: boolean, passkeys: number): string {
	const app = "a code from your authenticator app";
	if (passkeys === 0) return app;
	return hasApp ? `${app} or a passkey` : "a passkey";
}

/** Lets the user turn two-factor authentication on and off and renew the recovery codes. */
export function TwoFactor({ profile }: { profile: Profile }) {
	const { email, two_factor_enabled: isEnabled, has_app, passkeys } = profile;
	const [dialog, setDialog] = useState<Dialog | null>(null);
	const close = () => setDialog(null);
	return (
		<Section
			title="Two-factor authentication"
			action={
				<StatusBadge
					tone={isEnabled ? "good" : "neutral"}
					label={isEnabled ? "On" : "Off"}
				/>
			}
		>
			<Text size="sm" mb="md">
				{isEnabled
					? `With your password you also give ${factorsInWords(has_app, passkeys)}. If you cannot, you can use a recovery code.`
					: "Once it is on, you also give a code from an authenticator app, or a passkey. A stolen password alone is then not enough."}
			</Text>
			{isEnabled && <CodesLeft />}
			<Group>
				{isEnabled ? (
					<>
						<Button variant="default" onClick={() => setDialog("renew")}>
							New recovery codes …
						</Button>
						{!has_app && (
							<Button variant="default" onClick={() => setDialog("enable")}>
								Add an authenticator app …
							</Button>
						)}
						<Button variant="default" onClick={() => setDialog("disable")}>
							Turn off …
						</Button>
					</>
				) : (
					<Button onClick={() => setDialog("enable")}>Turn on …</Button>
				)}
			</Group>
			{dialog === "enable" && (
				<EnableTwoFactor
					email={email}
					hasPasskey={passkeys > 0 && !isEnabled}
					hasCodes={isEnabled}
					onClose={close}
				/>
			)}
			{dialog === "renew" && <RenewCodes email={email} onClose={close} />}
			{dialog === "disable" && (
				<Dialogue title="Turn off two-factor authentication?" onClose={close}>
					<PasswordStep
						email={email}
						action="Turn off"
						isDangerous
						onSubmit={disableTwoFactor}
						onDone={async () => {
							close();
							notifications.show({
								message: "Two-factor authentication is off.",
							});
							await forgetReadings();
						}}
						onCancel={close}
					>
						Your password alone then signs in. The entry in your authenticator
						app and the recovery codes stop working. Passkeys still sign in.
					</PasswordStep>
				</Dialogue>
			)}
		</Section>
	);
}

const FEW_CODES = 3;

/**
 * Warns a user with few recovery codes left, who should make new ones while they can still sign in.
 */
function CodesLeft() {
	const { data } = useQuery(recoveryCodesLeftQuery);
	if (!data) return null;
	const { left } = data;
	const count =
		left === 1 ? "1 recovery code is" : `${left} recovery codes are`;
	return left > FEW_CODES ? (
		<Text size="sm" mb="md">
			{count} left.
		</Text>
	) : (
		<Alert color="orange" variant="outline" mb="md" title={`${count} left`}>
			Make new codes now, so that you can still sign in if you lose your second
			factor.
		</Alert>
	);
}

function RenewCodes({
	email,
	onClose,
}: {
	email: string;
	onClose: () => void;
}) {
	const [codes, setCodes] = useState<string[] | null>(null);
	const once = useSaveOnce(codes, () => {
		onClose();
		if (codes) void forgetReadings();
	});
	useReturnFocus();
	return (
		<SaveOnceModal once={once} title="New recovery codes">
			{codes ? (
				<RecoveryCodes email={email} codes={codes} once={once} />
			) : (
				<PasswordStep
					email={email}
					action="Make new codes"
					onSubmit={renewRecoveryCodes}
					onDone={setCodes}
					onCancel={once.leave}
				>
					Your current codes stop working.
				</PasswordStep>
			)}
		</SaveOnceModal>
	);
}
