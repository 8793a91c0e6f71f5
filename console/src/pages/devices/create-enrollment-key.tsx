import {
	Button,
	Checkbox,
	Group,
	NumberInput,
	Select,
	Stack,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { clearButton } from "../../parts/clear-button.ts";
import {
	groupOptions,
	useDeviceGroups,
} from "../../parts/devices/device-groups.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { SaveOnceModal, useSaveOnce } from "../../parts/save-once.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { NewEnrollmentKey } from "./new-enrollment-key.tsx";

const DAYS = [1, 7, 30, 90, 365];

const initialValues = {
	name: "",
	max_devices: "" as number | string,
	expires_in_days: "30",
	requires_approval: false,
	group_id: null as string | null,
};

/** Asks for the limits of a key, makes it, and shows its secret once. */
export function CreateEnrollmentKey({ onClose }: { onClose: () => void }) {
	const { organizationId } = useOrganization();
	const [made, setMade] = useState<OutputOf<"addEnrollmentKey"> | null>(null);
	const once = useSaveOnce(made?.enrollment_key, onClose);
	useReturnFocus();
	const groups = useDeviceGroups(organizationId).filter(
		({ filter }) => !filter,
	);
	const form = useForm({
		initialValues,
		validate: {
			max_devices: (value) =>
				typeof value === "number" ? null : "Give a number from 1 to 100,000.",
		},
	});
	const saving = useSaving(
		form,
		({ name, max_devices, expires_in_days, requires_approval, group_id }) =>
			call("addEnrollmentKey", {
				organization_id: organizationId,
				name: name.trim(),
				max_devices: Number(max_devices),
				expires_in_days: Number(expires_in_days),
				requires_approval,
				...(group_id && { group_id }),
			}),
		(created) => {
			setMade(created);
			return forgetReadings();
		},
	);
	return (
		<SaveOnceModal
			once={once}
			size={made ? "xl" : "lg"}
			title={made ? `Your key “${made.key.name}”` : "Make an enrollment key"}
		>
			{made ? (
				<NewEnrollmentKey made={made} once={once} />
			) : (
				<form noValidate onSubmit={saving.submit}>
					<Stack>
						{saving.refusal && (
							<ErrorState error={saving.refusal} title="The key was not made" />
						)}
						<TextInput
							label={FIELD_LABELS.enrollment_key.name}
							description="What the key is for, such as “Intune, autumn 2026”. The page of each device names it."
							withAsterisk
							data-autofocus
							autoComplete="off"
							{...form.getInputProps("name")}
						/>
						<Group align="flex-start">
							<NumberInput
								label={FIELD_LABELS.enrollment_key.max_devices}
								description="The key then stops working."
								withAsterisk
								min={1}
								max={100_000}
								allowDecimal={false}
								thousandSeparator
								w={220}
								{...form.getInputProps("max_devices")}
							/>
							<Select
								label="Expires after"
								description="Only as long as the rollout takes."
								allowDeselect={false}
								data={DAYS.map((days) => ({
									value: String(days),
									label: days === 1 ? "1 day" : `${days} days`,
								}))}
								w={220}
								{...form.getInputProps("expires_in_days")}
							/>
						</Group>
						{groups.length > 0 && (
							<Select
								label={FIELD_LABELS.enrollment_key.group_id}
								description="The devices join it. A group with a filter finds its devices by itself."
								clearable
								clearButtonProps={clearButton("Clear the group")}
								{...groupOptions(groups)}
								w={452}
								maw="100%"
								{...form.getInputProps("group_id")}
							/>
						)}
						<Checkbox
							label={FIELD_LABELS.enrollment_key.requires_approval}
							description="Until then, a device stays pending and its reports do not count. Choose this if the key may get into other hands."
							{...form.getInputProps("requires_approval", { type: "checkbox" })}
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
								Make the key
							</Button>
						</Group>
					</Stack>
				</form>
			)}
		</SaveOnceModal>
	);
}
