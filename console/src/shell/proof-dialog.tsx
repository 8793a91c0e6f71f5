import { Anchor, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { verifyCode, verifyPassword } from "../pages/account/account-calls.ts";
import { Dialogue } from "../pages/account/dialogue.tsx";
import { PasswordStep } from "../pages/account/password-step.tsx";
import { ErrorState } from "../parts/error-state.tsx";
import { PageSkeleton } from "../parts/page-skeleton.tsx";
import { useSaving } from "../parts/use-saving.ts";
import { setProofDialog } from "../proof.ts";
import { operationQuery } from "../queries.ts";

const WHY = "This action gives lasting access.";

/**
 * Asks for the password when the server wants the user to confirm their identity again, or for a
 * code if the user has a second factor and prefers it.
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
		<Dialogue title="Confirm that it is you" onClose={() => close(false)}>
			<Proof onClose={close} />
		</Dialogue>
	);
}

function Proof({ onClose }: { onClose: (isProven: boolean) => void }) {
	const { data, error, refetch } = useQuery(operationQuery("getProfile", {}));
	const [isCode, setIsCode] = useState(false);
	if (error) return <ErrorState error={error} onRetry={refetch} />;
	if (!data) return <PageSkeleton />;
	const { email, two_factor_enabled } = data.profile;
	const onDone = () => onClose(true);
	const onCancel = () => onClose(false);
	return (
		<Stack>
			{isCode ? (
				<CodeStep onDone={onDone} onCancel={onCancel} />
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
			{two_factor_enabled && (
				<Anchor
					component="button"
					type="button"
					size="sm"
					onClick={() => setIsCode(!isCode)}
				>
					{isCode ? "Use the password instead" : "Use a code instead"}
				</Anchor>
			)}
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
