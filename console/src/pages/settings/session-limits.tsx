import { Group, Paper, Select, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import {
	MAX_SESSION_DAYS,
	SESSION_DAYS,
} from "../../../../src/sign-in/session-lifetime.ts";
import { call, type OutputOf } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { SaveButton } from "../../parts/save-button.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { durationWords } from "./intervals.ts";

type Limits = OutputOf<"getSessionLimits">["limits"];

const HOUR = 60;
const DAY = 24 * HOUR;
const IDLE_MINUTES = [5, 15, 30, HOUR, 4 * HOUR, 12 * HOUR, DAY, 3 * DAY];
const MAX_HOURS = [1, 4, 8, 12, 24, 72, 168, 336];

/** Lets an administrator limit how long sessions may be used in the organization. */
export function SessionsCard({ organizationId }: { organizationId: string }) {
	return (
		<Paper withBorder p="md" component="section" aria-label="Sessions">
			<Title order={2} mb={4}>
				Sessions
			</Title>
			<Text size="sm" c="dimmed" mb="md">
				A session is a browser in which somebody is signed in. These limits
				apply to all members, in this organization. API tokens and devices have
				none of them.
			</Text>
			<SessionLimits organizationId={organizationId} />
		</Paper>
	);
}

function SessionLimits({ organizationId }: { organizationId: string }) {
	const { data, error, refetch } = useQuery(
		operationQuery("getSessionLimits", { organization_id: organizationId }),
	);
	if (error) return <ErrorState error={error} onRetry={refetch} />;
	if (!data) return <RowsSkeleton rows={2} />;
	return <LimitsForm organizationId={organizationId} limits={data.limits} />;
}

function LimitsForm({
	organizationId,
	limits,
}: {
	organizationId: string;
	limits: Limits;
}) {
	const form = useForm({ initialValues: valuesOf(limits) });
	const saving = useSaving(
		form,
		(values) =>
			call("updateSessionLimits", {
				organization_id: organizationId,
				session_idle_minutes: numberOf(values.session_idle_minutes),
				session_max_hours: numberOf(values.session_max_hours),
			}),
		async (saved) => {
			form.setInitialValues(valuesOf(saved.limits));
			form.reset();
			notifications.show({ message: "The limits of sessions are saved." });
			await forgetReadings();
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not saved" />
				)}
				<Group align="flex-start">
					<Select
						label={FIELD_LABELS.organization.session_idle_minutes}
						allowDeselect={false}
						data={choices(
							IDLE_MINUTES,
							limits.session_idle_minutes,
							60,
							`${SESSION_DAYS} days (the default)`,
						)}
						w={300}
						{...form.getInputProps("session_idle_minutes")}
					/>
					<Select
						label={FIELD_LABELS.organization.session_max_hours}
						allowDeselect={false}
						data={choices(
							MAX_HOURS,
							limits.session_max_hours,
							3600,
							`${MAX_SESSION_DAYS} days (the default)`,
						)}
						w={300}
						{...form.getInputProps("session_max_hours")}
					/>
				</Group>
				<Text size="sm" c="dimmed">
					A change applies to all sessions with their next request, also to
					yours. Members then sign in again. If they belong to other
					organizations too, their session goes on there.
				</Text>
				<SaveButton isSaving={saving.isSaving} isDirty={form.isDirty()} />
			</Stack>
		</form>
	);
}

const NONE = "none";

function choices(
	usual: number[],
	current: number | null,
	unitSeconds: number,
	none: string,
) {
	const values = [
		...new Set([...usual, ...(current === null ? [] : [current])]),
	];
	return [
		...values
			.sort((a, b) => a - b)
			.map((value) => ({
				value: String(value),
				label: durationWords(value * unitSeconds),
			})),
		{ value: NONE, label: none },
	];
}

function valuesOf(limits: Limits) {
	return {
		session_idle_minutes: String(limits.session_idle_minutes ?? NONE),
		session_max_hours: String(limits.session_max_hours ?? NONE),
	};
}

function numberOf(value: string): number | null {
	return value === NONE ? null : Number(value);
}
