import { Button, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import type { RefObject } from "react";
import { MAX_DEVICES_OF_CALL } from "../../../../src/devices/fleet-limits.ts";
import { call, type InputOf, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import type { DeviceGroup } from "../../parts/devices/device-groups.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState, sentenceOf } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { TextLink } from "../../parts/links.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { showFailure } from "../../parts/show-failure.ts";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";

/**
 * Adds a group, or changes the texts of one. A new group has the given filter, or lists the given
 * devices.
 */
export function GroupForm({
	group,
	filter,
	deviceIds,
	from,
	onSaved,
	onClose,
}: {
	group?: DeviceGroup | undefined;
	filter?: InputOf<"addDeviceGroup">["filter"];
	deviceIds?: string[];
	/** The button that opened the form above another dialog. */
	from?: RefObject<Element | null>;
	onSaved?: (id: string) => void;
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	useReturnFocus(true, from);
	const form = useForm({
		initialValues: {
			name: group?.name ?? "",
			description: group?.description ?? "",
		},
	});
	const saving = useSaving(
		form,
		({ name, description }) => {
			const texts = {
				name: name.trim(),
				description: description.trim() || null,
			};
			return group
				? call("updateDeviceGroup", {
						id: group.id,
						if_updated_at: group.updated_at,
						...texts,
					})
				: call("addDeviceGroup", {
						organization_id: organizationId,
						...texts,
						...(filter && { filter }),
						...(deviceIds && {
							device_ids: deviceIds.slice(0, MAX_DEVICES_OF_CALL),
						}),
					}).then((added) => addRest(added, deviceIds ?? []));
		},
		async ({ device_group: { id, name } }) => {
			onSaved?.(id);
			await forgetReadings();
			notifications.show({ message: `The group “${name}” is saved.` });
			onClose();
		},
	);
	return (
		<Dialog
			opened
			onClose={onClose}
			title={group ? "Edit the group" : "Add a group"}
		>
			<form noValidate onSubmit={saving.submit}>
				<Stack>
					{saving.refusal && (
						<ErrorState
							error={saving.refusal}
							title="The group was not saved"
						/>
					)}
					{!group && !filter && !deviceIds && (
						<Text size="sm">
							This group lists its devices, and is empty at first. For a group
							by a filter,{" "}
							<TextLink
								to="/o/$org/devices"
								params={{ org: organizationId }}
								inherit
								underline="always"
							>
								filter the list of devices
							</TextLink>{" "}
							and choose Actions → Save the filter as a group.
						</Text>
					)}
					<TextInput
						label={FIELD_LABELS.device_group.name}
						description={
							filter
								? "The group contains the devices that match the filter of the list, now and later."
								: undefined
						}
						withAsterisk
						data-autofocus
						autoComplete="off"
						{...form.getInputProps("name")}
					/>
					<Textarea
						label={FIELD_LABELS.device_group.description}
						autosize
						minRows={2}
						{...form.getInputProps("description")}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							Save the group
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}

/** Adds the devices that were too many for the call that made the group. */
async function addRest(
	added: OutputOf<"addDeviceGroup">,
	deviceIds: readonly string[],
): Promise<OutputOf<"addDeviceGroup">> {
	const { id, name } = added.device_group;
	for (
		let from = MAX_DEVICES_OF_CALL;
		from < deviceIds.length;
		from += MAX_DEVICES_OF_CALL
	) {
		try {
			await call("updateDeviceGroup", {
				id,
				add_device_ids: deviceIds.slice(from, from + MAX_DEVICES_OF_CALL),
			});
		} catch (error) {
			// The group exists, so saving the form again would fail.
			showFailure(
				`The group “${name}” has only ${from.toLocaleString()} of ${deviceIds.length.toLocaleString()} devices`,
				`Add the others to it with Groups. ${sentenceOf(error)}`,
				{ stays: true },
			);
			break;
		}
	}
	return added;
}
