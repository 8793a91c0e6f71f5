import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, call } from "../../api.ts";
import type { Device } from "../../parts/devices/device-words.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { applyServerErrors } from "../../parts/server-errors.ts";
import { refusalOf } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { OwnerField } from "./owner-field.tsx";

/** Edits the name and the owner of a device. The agent reports everything else. */
export function EditDevice({
	device,
	onClose,
}: {
	device: Device;
	onClose: () => void;
}) {
	const [refusal, setRefusal] = useState<ApiError | null>(null);
	useReturnFocus();
	const form = useForm({
		initialValues: { name: device.name ?? "", owner_id: device.owner_id },
	});
	const saving = useMutation({
		mutationFn: ({ name, owner_id }: typeof form.values) =>
			call("updateDevice", {
				id: device.id,
				name: name.trim() || null,
				owner_id,
			}),
		onSuccess: async () => {
			await forgetReadings();
			onClose();
		},
		onError: (error) => {
			const rest = applyServerErrors(form, error, Object.keys(form.values));
			setRefusal(rest ? refusalOf(error, rest) : null);
		},
	});
	return (
		<Dialog opened onClose={onClose} title="Edit the device">
			<form
				noValidate
				onSubmit={form.onSubmit((values) => {
					setRefusal(null);
					saving.mutate(values);
				})}
			>
				<Stack>
					{refusal && (
						<ErrorState error={refusal} title="The device was not changed" />
					)}
					<TextInput
						label={FIELD_LABELS.device.name}
						description="If you leave it empty, the hostname is shown."
						autoComplete="off"
						data-autofocus
						{...form.getInputProps("name")}
					/>
					<OwnerField
						value={form.values.owner_id}
						onChange={(id) => form.setFieldValue("owner_id", id)}
						error={form.errors.owner_id}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isPending}>
							Save
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
