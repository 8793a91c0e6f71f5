import { Button, Stack, Text } from "@mantine/core";
import { IconFingerprint } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ErrorState } from "../../parts/error-state.tsx";
import {
	giveSecondFactor,
	hasPasskeySupport,
	offerPasskeys,
	signInWithPasskey,
} from "../../passkeys.ts";

/**
 * Signs in with a passkey: with a button, or from the list that the browser shows under the field
 * for the address.
 */
export function PasskeyButton({ onDone }: { onDone: () => void }) {
	const [refusal, setRefusal] = useState<unknown>(null);
	// The browser allows one use of passkeys at a time. The button's replaces the offer, which then
	// begins again.
	const [offers, setOffers] = useState(0);
	const signingIn = useMutation({
		mutationFn: signInWithPasskey,
		onMutate: () => setRefusal(null),
		onSuccess: onDone,
		onError: () => setOffers((count) => count + 1),
	});
	// biome-ignore lint/correctness/useExhaustiveDependencies: a new number makes a new offer.
	useEffect(() => offerPasskeys(onDone, setRefusal), [offers]);
	if (!hasPasskeySupport()) return null;
	const error = signingIn.error ?? refusal;
	return (
		<>
			{error !== null && (
				<ErrorState title="You are not signed in" error={error} />
			)}
			<Button
				variant="default"
				leftSection={<IconFingerprint size={18} aria-hidden />}
				loading={signingIn.isPending}
				onClick={() => signingIn.mutate()}
			>
				Sign in with a passkey
			</Button>
		</>
	);
}

/** Gives a passkey as the second factor. */
export function PasskeyStep({ onDone }: { onDone: () => void }) {
	const giving = useMutation({
		mutationFn: giveSecondFactor,
		onSuccess: onDone,
	});
	return (
		<Stack>
			{giving.isError && (
				<ErrorState title="You are not signed in yet" error={giving.error} />
			)}
			<Text size="sm">
				Use one of your passkeys as the second factor. Your browser asks for it.
			</Text>
			<Button
				leftSection={<IconFingerprint size={18} aria-hidden />}
				loading={giving.isPending}
				onClick={() => giving.mutate()}
				autoFocus
			>
				Use a passkey
			</Button>
		</Stack>
	);
}
