import { Select, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { call } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { SaveButton } from "../../parts/save-button.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import type { Organization } from "./organization-form.tsx";

const MAX_SHOWN = 100;

/** Sets the time zone that decides when a day of the organization begins. */
export function TimeZoneForm({ organization }: { organization: Organization }) {
	const form = useForm({
		initialValues: { time_zone: organization.time_zone },
	});
	const saving = useSaving(
		form,
		({ time_zone }) =>
			call("updateOrganizationSettings", {
				organization_id: organization.id,
				time_zone,
			}),
		async (saved) => {
			await forgetReadings();
			form.setInitialValues({ time_zone: saved.organization.time_zone });
			form.reset();
			notifications.show({ message: "The time zone is saved." });
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not saved" />
				)}
				<Select
					label={FIELD_LABELS.organization.time_zone}
					description="It decides what is due today or overdue, which moment the state of a day is, and when weekly mails go out."
					searchable
					allowDeselect={false}
					limit={MAX_SHOWN}
					nothingFoundMessage="No time zone matches"
					data={choices(organization.time_zone)}
					maw={480}
					{...form.getInputProps("time_zone")}
				/>
				<SaveButton isSaving={saving.isSaving} isDirty={form.isDirty()} />
			</Stack>
		</form>
	);
}

function choices(current: string): string[] {
	const known = Intl.supportedValuesOf("timeZone");
	return [...new Set(["UTC", current, ...known])].sort();
}
