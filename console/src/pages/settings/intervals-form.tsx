import { Alert, Group, List, Select, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import {
	intervalWarnings,
	staleAfterSeconds,
} from "../../../../src/devices/terms.ts";
import { call } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { SaveButton } from "../../parts/save-button.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings, operationQuery } from "../../queries.ts";
import {
	durationWords,
	heartbeatChoices,
	postureChoices,
	rateWords,
} from "./intervals.ts";
import type { Organization } from "./organization-form.tsx";

/**
 * Sets how often devices report, and shows what this means for their freshness and for the load.
 */
export function IntervalsForm({
	organization,
}: {
	organization: Organization;
}) {
	const form = useForm({ initialValues: valuesOf(organization) });
	const saving = useSaving(
		form,
		(values) =>
			call("updateOrganizationSettings", {
				organization_id: organization.id,
				heartbeat_interval_seconds: Number(values.heartbeat_interval_seconds),
				posture_interval_seconds: Number(values.posture_interval_seconds),
			}),
		async (saved) => {
			await forgetReadings();
			form.setInitialValues(valuesOf(saved.organization));
			form.reset();
			notifications.show({ message: "The intervals are saved." });
		},
	);
	const heartbeat = Number(form.values.heartbeat_interval_seconds);
	const posture = Number(form.values.posture_interval_seconds);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not saved" />
				)}
				<Group align="flex-start">
					<Select
						label={FIELD_LABELS.organization.heartbeat_interval_seconds}
						allowDeselect={false}
						data={heartbeatChoices(organization.heartbeat_interval_seconds)}
						w={220}
						{...form.getInputProps("heartbeat_interval_seconds")}
					/>
					<Select
						label={FIELD_LABELS.organization.posture_interval_seconds}
						allowDeselect={false}
						data={postureChoices(organization.posture_interval_seconds)}
						w={220}
						{...form.getInputProps("posture_interval_seconds")}
					/>
				</Group>
				{intervalWarnings({
					heartbeat_interval_seconds: heartbeat,
					posture_interval_seconds: posture,
				}).map((warning) => (
					<Alert key={warning} color="orange" variant="outline" py="xs">
						{warning}
					</Alert>
				))}
				<List size="sm" c="dimmed" spacing={4}>
					<List.Item>
						A device without a heartbeat for{" "}
						{durationWords(staleAfterSeconds(heartbeat))} counts as stale. That
						is twice the heartbeat interval plus one minute.
					</List.Item>
					<List.Item>
						A check that starts to fail is reported within{" "}
						{durationWords(posture)}.
					</List.Item>
					<Load
						organizationId={organization.id}
						heartbeat={heartbeat}
						posture={posture}
					/>
					<List.Item>
						A device learns a new interval with its next heartbeat.
					</List.Item>
				</List>
				<SaveButton isSaving={saving.isSaving} isDirty={form.isDirty()} />
			</Stack>
		</form>
	);
}

function Load({
	organizationId,
	heartbeat,
	posture,
}: {
	organizationId: string;
	heartbeat: number;
	posture: number;
}) {
	const { data } = useQuery(
		operationQuery("listPostureSummary", { organization_id: organizationId }),
	);
	if (!data || data.active_devices === 0) return null;
	const { active_devices: devices } = data;
	return (
		<List.Item>
			<Text span inherit>
				{devices === 1
					? "Your active device sends"
					: `Your ${devices.toLocaleString()} active devices send`}{" "}
				about {rateWords("heartbeat", devices, heartbeat)} and{" "}
				{rateWords("posture report", devices, posture)}.
			</Text>
		</List.Item>
	);
}

function valuesOf(organization: Organization) {
	return {
		heartbeat_interval_seconds: String(organization.heartbeat_interval_seconds),
		posture_interval_seconds: String(organization.posture_interval_seconds),
	};
}
