import {
	Button,
	Group,
	Select,
	Stack,
	Switch,
	Text,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import {
	CHANNEL_KINDS,
	type ChannelKind,
	hasDigest,
	isChat,
	TOLD_EVENTS,
	USUAL_EVENTS,
} from "../../../../src/notifications/channel-kinds.ts";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { SecretInput } from "../../parts/secret-input.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import { CHANNEL_WORDS, WEEKDAYS } from "./channel-words.ts";
import { EventChoices } from "./event-choices.tsx";
import type { Channel } from "./notifications-page.tsx";

/** Adds or changes a channel. The address of a chat is never shown again. */
export function NotificationDialog({
	channel,
	sendsMail,
	taken,
	onClose,
}: {
	/** Undefined for a new channel. */
	channel?: Channel | undefined;
	sendsMail: boolean;
	/** The kinds that the organization has. */
	taken: ChannelKind[];
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	useReturnFocus();
	const kinds = CHANNEL_KINDS.filter(
		(kind) => isChat(kind) || (sendsMail && !taken.includes(kind)),
	);
	const form = useForm({
		initialValues: {
			kind: (channel?.kind ?? kinds[0] ?? "SLACK") as ChannelKind,
			name: channel?.name ?? "",
			address: "",
			event_types: (channel?.event_types ?? USUAL_EVENTS) as string[],
			digest_weekday: String(channel?.digest_weekday ?? 1),
			is_enabled: channel?.is_enabled ?? true,
		},
	});
	const { kind } = form.values;
	const saving = useSaving(
		form,
		(values) => {
			const address = values.address.trim();
			const fields = {
				organization_id: organizationId,
				name: values.name.trim() || CHANNEL_WORDS[kind].label,
				...(isChat(kind) && (address || !channel) && { address }),
				...(!hasDigest(kind) && {
					event_types: values.event_types as typeof USUAL_EVENTS,
				}),
				...(hasDigest(kind) && {
					digest_weekday: Number(values.digest_weekday),
				}),
			};
			return channel
				? call("updateNotificationChannel", {
						...fields,
						id: channel.id,
						is_enabled: values.is_enabled,
					})
				: call("addNotificationChannel", { ...fields, kind });
		},
		async () => {
			await forgetReadings();
			onClose();
		},
	);
	return (
		<Dialog
			opened
			onClose={onClose}
			size="lg"
			title={channel ? "Change the channel" : "Add a channel"}
		>
			<form noValidate onSubmit={saving.submit}>
				<Stack>
					{saving.refusal && (
						<ErrorState error={saving.refusal} title="Not saved" />
					)}
					{!channel && (
						<Select
							label={FIELD_LABELS.notification_channel.kind}
							withAsterisk
							allowDeselect={false}
							data={kinds.map((value) => ({
								value,
								label: CHANNEL_WORDS[value].label,
							}))}
							{...form.getInputProps("kind")}
						/>
					)}
					<Text size="sm" c="dimmed">
						{CHANNEL_WORDS[kind].means}
					</Text>
					<TextInput
						label={FIELD_LABELS.notification_channel.name}
						placeholder={CHANNEL_WORDS[kind].label}
						maxLength={200}
						{...form.getInputProps("name")}
					/>
					{isChat(kind) && (
						<SecretInput
							secret="address"
							label={FIELD_LABELS.notification_channel.address}
							withAsterisk={!channel}
							autoComplete="off"
							description={
								channel
									? "Leave it empty to keep the address. It is a secret, so it is not shown."
									: "Anybody who knows it can write into the chat. It is stored encrypted and not shown again."
							}
							{...form.getInputProps("address")}
						/>
					)}
					{hasDigest(kind) && (
						<Select
							label={FIELD_LABELS.notification_channel.digest_weekday}
							description="It is sent at 7:00 in the organization's time zone."
							allowDeselect={false}
							data={WEEKDAYS.map((label, index) => ({
								value: String(index + 1),
								label,
							}))}
							{...form.getInputProps("digest_weekday")}
						/>
					)}
					{!hasDigest(kind) && (
						<EventChoices
							types={TOLD_EVENTS}
							{...form.getInputProps("event_types")}
						/>
					)}
					{channel && (
						<Switch
							label={FIELD_LABELS.notification_channel.is_enabled}
							{...form.getInputProps("is_enabled", { type: "checkbox" })}
						/>
					)}
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							Save
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
