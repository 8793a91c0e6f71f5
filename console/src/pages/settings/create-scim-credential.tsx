import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { call } from "../../api.ts";
import { CopyField, SecretOnce } from "../../parts/copy-field.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import {
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../parts/save-once.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";

const LIVES = [
	{ value: "90", label: "In 90 days" },
	{ value: "180", label: "In 180 days" },
	{ value: "365", label: "In a year" },
	{ value: "1095", label: "In three years" },
];

/** Asks for a name, creates the credential, and shows it once. */
export function CreateScimCredential({
	organizationId,
	address,
	onClose,
}: {
	organizationId: string;
	address: string;
	onClose: () => void;
}) {
	const [secret, setSecret] = useState<string | null>(null);
	const once = useSaveOnce(secret, onClose);
	useReturnFocus();
	const form = useForm({
		initialValues: { name: "", expires_in_days: "365" },
	});
	const saving = useSaving(
		form,
		({ name, expires_in_days }) =>
			call("createScimCredential", {
				organization_id: organizationId,
				name: name.trim(),
				expires_in_days: Number(expires_in_days),
			}),
		(created) => {
			setSecret(created.secret);
			return forgetReadings();
		},
	);
	return (
		<SaveOnceModal
			once={once}
			size="lg"
			title={secret ? "Your new SCIM credential" : "Create a SCIM credential"}
		>
			{secret ? (
				<Stack>
					<CopyField label="Address" value={address} />
					<SecretOnce label="Credential" value={secret} />
					<SaveOnceButtons
						secrets="credential"
						consequence="Nobody can show it again. Revoke it then, and create another one."
						once={once}
					/>
				</Stack>
			) : (
				<form noValidate onSubmit={saving.submit}>
					<Stack>
						{saving.refusal && (
							<ErrorState
								error={saving.refusal}
								title="The credential was not created"
							/>
						)}
						<TextInput
							label={FIELD_LABELS.scim_credential.name}
							description="The identity provider that will use it, such as “Entra ID”. The audit log names it as the actor."
							withAsterisk
							data-autofocus
							autoComplete="off"
							maxLength={200}
							{...form.getInputProps("name")}
						/>
						<Select
							label={FIELD_LABELS.scim_credential.expires_at}
							allowDeselect={false}
							data={LIVES}
							w={220}
							{...form.getInputProps("expires_in_days")}
						/>
						<Group justify="flex-end">
							<Button
								variant="default"
								disabled={once.isWaiting}
								onClick={once.leave}
							>
								Cancel
							</Button>
							<Button type="submit" loading={saving.isSaving}>
								Create the credential
							</Button>
						</Group>
					</Stack>
				</form>
			)}
		</SaveOnceModal>
	);
}
