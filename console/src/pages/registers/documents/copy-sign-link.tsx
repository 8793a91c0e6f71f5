import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { call } from "../../../api.ts";
import { SecretOnce } from "../../../parts/copy-field.tsx";
import { ErrorState } from "../../../parts/error-state.tsx";
import { LocalAddressNote } from "../../../parts/local-address-note.tsx";
import { useReturnFocus } from "../../../parts/return-focus.ts";
import {
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../../parts/save-once.tsx";
import { DateTime } from "../../../parts/time.tsx";
import { forgetReadings } from "../../../queries.ts";
import type { Signature } from "./signed-by.ts";

/** Makes a link with which a person without an account signs, and shows it once. */
export function CopySignLink({
	signature,
	onClose,
}: {
	signature: Signature;
	onClose: () => void;
}) {
	useReturnFocus();
	const copying = useMutation({
		mutationFn: () => call("copySignLink", { id: signature.id }),
		onSuccess: () => forgetReadings(),
	});
	const made = copying.data;
	const once = useSaveOnce(made?.link, onClose);
	const { signer_name: name, link_copied_at: copiedAt } = signature;
	return (
		<SaveOnceModal
			once={once}
			size="lg"
			title={`A link with which ${name} signs`}
		>
			<Stack>
				{copying.isError && (
					<ErrorState error={copying.error} title="There is no link" />
				)}
				{made ? (
					<>
						<Text size="sm">
							Give this link to {name} only. It works until{" "}
							<DateTime value={made.expires_at} />, or until somebody makes a
							new one.
						</Text>
						<LocalAddressNote address={made.link} />
						<SecretOnce label="Link to sign" value={made.link} />
						<SaveOnceButtons
							secrets="link"
							consequence="Nobody can show it again. You would have to make another one."
							once={once}
						/>
					</>
				) : (
					<>
						<Text size="sm">
							With this link, {name} reads and signs the version without an
							account. Whoever has the link can sign, and you see it too. The
							signature therefore says that it came by a link that you made. It
							proves less than a signature by a mailed link or with an account.
						</Text>
						{copiedAt && (
							<Text size="sm">
								The link that was made before stops working.
							</Text>
						)}
						<Group justify="flex-end">
							<Button
								variant="default"
								disabled={once.isWaiting}
								onClick={once.leave}
							>
								Cancel
							</Button>
							<Button
								loading={copying.isPending}
								onClick={() => copying.mutate()}
							>
								Make a link to copy
							</Button>
						</Group>
					</>
				)}
			</Stack>
		</SaveOnceModal>
	);
}
