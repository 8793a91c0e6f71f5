import {
	Anchor,
	Button,
	Group,
	Modal,
	Stack,
	Text,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { OutputOf } from "../api.ts";
import { verifyCode, verifyPassword } from "../pages/account/account-calls.ts";
import { PasswordStep } from "../pages/account/password-step.tsx";
import { ErrorState } from "../parts/error-state.tsx";
import { PageSkeleton } from "../parts/page-skeleton.tsx";
import { useReturnFocus } from "../parts/return-focus.ts";
import { useSaving } from "../parts/use-saving.ts";
import { hasPasskeySupport, proveWithPasskey } from "../passkeys.ts";
import { onConfirmed, setProofDialog } from "../proof.ts";
import { operationQuery } from "../queries.ts";

const WHY = "This action has a lasting effect.";

/**
 * Asks for a passkey or the password when the server wants the user to confirm their identity
 * again, or for a code if the user has a second factor and prefers it.
 */
export function ProofDialog() {
	const [answer, setAnswer] = useState<((isProven: boolean) => void) | null>(
		null,
	);
	useEffect(() => {
		setProofDialog(() => new Promise((resolve) => setAnswer(() => resolve)));
		return () => setProofDialog(undefined);
	}, []);
	if (!answer) return null;
	const close = (isProven: boolean) => {
		setAnswer(null);
		answer(isProven);
	};
	return (
		// The request that asked for the proof still runs, and Escape ends it.
		<Modal
			opened
			onClose={() => close(false)}
			title="Confirm that it is you"
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Proof onClose={close} />
		</Modal>
	);
}

function Proof({ onClose }: { onClose: (isProven: boolean) => void }) {
	useReturnFocus();
	const { data, error, refetch } = useQuery(operationQuery("getProfile", {}));
	const [chosen, setChosen] = useState<Way | null>(null);
	if (error) return <ErrorState error={error} onRetry={refetch} />;
	if (!data) return <PageSkeleton />;
	const { email, provider } = data.profile;
	const ways = waysOf(data.profile);
	const way = chosen ?? ways[0] ?? "password";
	const onDone = () => onClose(true);
	const onCancel = () => onClose(false);
	return (
		<Stack key={way} ref={focusField}>
			{way === "code" ? (
				<CodeStep onDone={onDone} onCancel={onCancel} />
			) : way === "passkey" ? (
				<PasskeyStep onDone={onDone} onCancel={onCancel} />
			) : way === "provider" ? (
				<ProviderStep
					provider={provider ?? ""}
					onDone={onDone}
					onCancel={onCancel}
				/>
			) : (
				<PasswordStep
					email={email}
					action="Confirm"
					onSubmit={verifyPassword}
					onDone={onDone}
					onCancel={onCancel}
				>
					{WHY} Enter your password again to continue.
				</PasswordStep>
			)}
			{ways
				.filter((one) => one !== way)
				.map((one) => (
					<Anchor
						key={one}
						component="button"
						type="button"
						size="sm"
						onClick={() => setChosen(one)}
					>
						{one === "provider" ? `Use ${provider} instead` : INSTEAD[one]}
					</Anchor>
				))}
		</Stack>
	);
}

/**
 * Moves the focus to the field or the button that confirms. The dialog chooses its focus when it
 * opens, and the profile may not be loaded then.
 */
function focusField(step: HTMLElement | null) {
	step?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
}

type Way = "provider" | "passkey" | "password" | "code";

const INSTEAD = {
	passkey: "Use a passkey instead",
	password: "Use the password instead",
	code: "Use a code instead",
};

/** Returns the ways in which the user can confirm, the most usual one first. */
function waysOf(profile: OutputOf<"getProfile">["profile"]): Way[] {
	return [
		...(profile.provider !== null ? (["provider"] as const) : []),
		...(profile.passkeys > 0 && hasPasskeySupport()
			? (["passkey"] as const)
			: []),
		...(profile.has_password ? (["password"] as const) : []),
		...(profile.two_factor_enabled ? (["code"] as const) : []),
	];
}

/** Lets the user confirm with the identity provider in a new tab, so that no input is lost here. */
function ProviderStep({
	provider,
	onDone,
	onCancel,
}: {
	provider: string;
	onDone: () => void;
	onCancel: () => void;
}) {
	useEffect(() => onConfirmed(onDone), [onDone]);
	return (
		<Stack>
			<Text size="sm">
				{WHY} Confirm it with {provider}, which opens in a new tab and may ask
				for your password. This page then goes on.
			</Text>
			<Group justify="flex-end">
				<Button variant="default" onClick={onCancel}>
					Cancel
				</Button>
				<Button
					component="a"
					href="/api/sign-in-with-provider?confirm=1"
					target="_blank"
					data-autofocus
				>
					Confirm with {provider}
				</Button>
			</Group>
		</Stack>
	);
}

function PasskeyStep({
	onDone,
	onCancel,
}: {
	onDone: () => void;
	onCancel: () => void;
}) {
	const proving = useMutation({
		mutationFn: proveWithPasskey,
		onSuccess: onDone,
	});
	return (
		<Stack>
			{proving.isError && (
				<ErrorState error={proving.error} title="You have not confirmed" />
			)}
			<Text size="sm">{WHY} Confirm it with one of your passkeys.</Text>
			<Group justify="flex-end">
				<Button variant="default" onClick={onCancel}>
					Cancel
				</Button>
				<Button
					loading={proving.isPending}
					onClick={() => proving.mutate()}
					data-autofocus
				>
					Use a passkey
				</Button>
			</Group>
		</Stack>
	);
}

function CodeStep({
	onDone,
	onCancel,
}: {
	onDone: () => void;
	onCancel: () => void;
}) {
	const form = useForm({ initialValues: { code: "" } });
	const saving = useSaving(form, ({ code }) => verifyCode(code), onDone);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="You have not confirmed" />
				)}
				<Text size="sm">
					{WHY} Enter a code of your second factor to continue.
				</Text>
				<TextInput
					label="Code"
					description="The six digits that your authenticator app shows, or a recovery code. Each works once."
					name="code"
					autoComplete="one-time-code"
					autoFocus
					{...form.getInputProps("code")}
				/>
				<Group justify="flex-end">
					<Button variant="default" onClick={onCancel}>
						Cancel
					</Button>
					<Button type="submit" loading={saving.isSaving}>
						Confirm
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
