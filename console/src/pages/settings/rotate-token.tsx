import { Button, Group, List, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { call } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { SaveOnceModal, useSaveOnce } from "../../parts/save-once.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { NewToken } from "./new-token.tsx";
import type { ApiToken } from "./token-words.tsx";

/** Makes a second token beside the first one, which continues to work. */
export function RotateToken({
	token,
	onClose,
}: {
	token: ApiToken;
	onClose: () => void;
}) {
	const [secret, setSecret] = useState<string | null>(null);
	const once = useSaveOnce(secret, onClose);
	useReturnFocus();
	const form = useForm({ initialValues: { name: nextName(token.name) } });
	const saving = useSaving(
		form,
		({ name }) => call("rotateApiToken", { id: token.id, name: name.trim() }),
		(rotated) => {
			setSecret(rotated.token);
			return forgetReadings();
		},
	);
	return (
		<SaveOnceModal
			once={once}
			size="lg"
			title={secret ? "The second token" : `Rotate ${token.name}?`}
		>
			{secret ? (
				<NewToken token={secret} once={once} />
			) : (
				<form noValidate onSubmit={saving.submit}>
					<Stack>
						{saving.refusal && (
							<ErrorState
								error={saving.refusal}
								title="The second token was not made"
							/>
						)}
						<Text size="sm">
							You get a second token with the same description and validity.
							This token keeps working until you revoke it:
						</Text>
						<List type="ordered" size="sm" spacing={4}>
							<List.Item>Use the second token in place of this one.</List.Item>
							<List.Item>
								Wait until “last used” of this token no longer changes.
							</List.Item>
							<List.Item>Revoke this token.</List.Item>
						</List>
						<TextInput
							label="Name of the second token"
							withAsterisk
							data-autofocus
							autoComplete="off"
							{...form.getInputProps("name")}
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
								Make the second token
							</Button>
						</Group>
					</Stack>
				</form>
			)}
		</SaveOnceModal>
	);
}

/**
 * Returns a new name, such as `laptop (2)` after `laptop`, and `laptop (3)` after that. Two tokens
 * of the same name would be hard to tell apart.
 */
function nextName(name: string): string {
	const [, base = name, number = "1"] = /^(.*) \((\d{1,3})\)$/.exec(name) ?? [];
	return `${base} (${Number(number) + 1})`;
}
