import { Button, Group, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { EVENT_TYPE_NAMES } from "../../../../src/events/types.ts";
import { OVERLAP_DAYS } from "../../../../src/webhooks/overlap-days.ts";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { SecretOnce } from "../../parts/copy-field.tsx";
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
import { EventChoices } from "./event-choices.tsx";
import type { Webhook } from "./webhooks-page.tsx";

const CHOICES = EVENT_TYPE_NAMES.filter((type) => type !== "webhook.test");

/** Adds or changes a webhook, or makes a new secret for it. A new secret is shown once. */
export function WebhookDialog({
	webhook,
	isRotation = false,
	onClose,
}: {
	/** Undefined for a new webhook. */
	webhook?: Webhook | undefined;
	isRotation?: boolean;
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	const [secret, setSecret] = useState<string | null>(null);
	const once = useSaveOnce(secret, onClose);
	useReturnFocus();
	const form = useForm({
		initialValues: {
			url: webhook?.url ?? "",
			description: webhook?.description ?? "",
			event_types: (webhook?.event_types ?? CHOICES) as string[],
			is_enabled: webhook?.is_enabled ?? true,
		},
	});
	const saving = useSaving(
		form,
		async (values) => {
			const given = {
				organization_id: organizationId,
				url: values.url.trim(),
				description: values.description.trim() || null,
				event_types: values.event_types,
			};
			if (!webhook) return (await call("addWebhook", given)).secret;
			const one = { organization_id: organizationId, id: webhook.id };
			if (isRotation) return (await call("rotateWebhookSecret", one)).secret;
			const { is_enabled } = values;
			await call("updateWebhook", { ...given, ...one, is_enabled });
			return null;
		},
		async (made) => {
			await forgetReadings();
			if (made) setSecret(made);
			else onClose();
		},
	);
	const title = !webhook
		? "Add a webhook"
		: isRotation
			? "Make a new secret"
			: "Change the webhook";
	return (
		<SaveOnceModal
			once={once}
			size="lg"
			title={secret ? "Copy the signing secret" : title}
		>
			{secret ? (
				<Stack>
					<Text size="sm">
						The receiver verifies the signature of each request with this
						secret.
					</Text>
					<SecretOnce label={FIELD_LABELS.webhook.secret} value={secret} />
					<SaveOnceButtons
						secrets="secret"
						consequence="Nobody can show it again. You would have to make another one."
						once={once}
					/>
				</Stack>
			) : (
				<form noValidate onSubmit={saving.submit}>
					<Stack>
						{saving.refusal && (
							<ErrorState error={saving.refusal} title="Not saved" />
						)}
						{isRotation ? (
							<Text size="sm">
								For {OVERLAP_DAYS} days, requests are signed with the old secret
								too. Give the new one to the receiver in that time.
							</Text>
						) : (
							<>
								<TextInput
									type="url"
									label="Address"
									description="It gets each event as a POST request."
									withAsterisk
									data-autofocus
									{...form.getInputProps("url")}
								/>
								<TextInput
									label={FIELD_LABELS.webhook.description}
									{...form.getInputProps("description")}
								/>
								<EventChoices
									types={CHOICES}
									withAsterisk
									{...form.getInputProps("event_types")}
								/>
								{webhook && (
									<Switch
										label={FIELD_LABELS.webhook.is_enabled}
										{...form.getInputProps("is_enabled", { type: "checkbox" })}
									/>
								)}
							</>
						)}
						<Group justify="flex-end">
							<Button
								variant="default"
								disabled={once.isWaiting}
								onClick={once.leave}
							>
								Cancel
							</Button>
							<Button type="submit" loading={saving.isSaving}>
								{isRotation ? "Make a new secret" : "Save"}
							</Button>
						</Group>
					</Stack>
				</form>
			)}
		</SaveOnceModal>
	);
}
