import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { verifyPassword } from "../pages/account/account-calls.ts";
import { Dialogue } from "../pages/account/dialogue.tsx";
import { PasswordStep } from "../pages/account/password-step.tsx";
import { setProofDialog } from "../proof.ts";
import { meQuery } from "../queries.ts";

/** Asks for the password when the server wants the user to confirm their identity again. */
export function ProofDialog() {
	const me = useQuery(meQuery);
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
			<PasswordStep
				email={me.data?.email ?? ""}
				action="Confirm"
				onSubmit={verifyPassword}
				onDone={() => close(true)}
				onCancel={() => close(false)}
			>
				This action gives lasting access. Enter your password again to go on.
			</PasswordStep>
		</Dialogue>
	);
}
