import { NumberInput, Radio, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import type {
	Choices,
	ThresholdName,
} from "../../../../src/devices/thresholds.ts";
import { ApiError, call, type OutputOf } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { SaveButton } from "../../parts/save-button.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";
import {
	boundsOf,
	POLICY_CHOICES,
	POLICY_FIELDS,
} from "./device-policy-fields.ts";

type Policy = OutputOf<"getDevicePolicy">["policy"];
type Values = Record<ThresholdName, number | string> & Choices;

export const CHANGED_MEANWHILE =
	"The device policy was changed in the meantime, by somebody else or by you in another window. Reload the page to see that change. Then make yours again if you still want it.";

/** Changes the thresholds. Another administrator's change in the meantime is not overwritten. */
export function DevicePolicyForm({
	organizationId,
	policy,
}: {
	organizationId: string;
	policy: Policy;
}) {
	const form = useForm<Values>({
		initialValues: Object.fromEntries([
			...POLICY_FIELDS.map(({ name, perUnit }) => [
				name,
				policy[name] / perUnit,
			]),
			...POLICY_CHOICES.map(({ name }) => [name, policy[name]]),
		]) as Values,
		validate: Object.fromEntries(
			POLICY_FIELDS.map((field) => {
				const { min, max } = boundsOf(field);
				return [
					field.name,
					(value: number | string) =>
						typeof value === "number" && value >= min && value <= max
							? null
							: `Give a number from ${min} to ${max}`,
				];
			}),
		),
	});
	const saving = useSaving(
		form,
		(values) =>
			call("updateDevicePolicy", {
				organization_id: organizationId,
				if_updated_at: policy.updated_at,
				...Object.fromEntries(
					POLICY_FIELDS.map(({ name, perUnit }) => [
						name,
						Math.round(Number(values[name]) * perUnit),
					]),
				),
				...Object.fromEntries(
					POLICY_CHOICES.map(({ name }) => [name, values[name]]),
				),
			}).catch((error) => {
				throw error instanceof ApiError && error.code === "conflict"
					? new ApiError(error.status, error.code, CHANGED_MEANWHILE)
					: error;
			}),
		async () => {
			await forgetReadings();
			notifications.show({ message: "The device policy is saved." });
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<Stack>
				{saving.refusal && (
					<ErrorState error={saving.refusal} title="Not saved" />
				)}
				{POLICY_FIELDS.map((field) => {
					const { min, max, usual } = boundsOf(field);
					return (
						<NumberInput
							key={field.name}
							label={field.label}
							description={`${field.description}. From ${min} to ${max}; the default is ${usual}.`}
							suffix={` ${field.unit}`}
							allowDecimal={field.perUnit > 1}
							decimalScale={2}
							allowNegative={false}
							maw={360}
							{...form.getInputProps(field.name)}
						/>
					);
				})}
				{POLICY_CHOICES.map(({ name, label, description, options }) => (
					<Radio.Group
						key={name}
						label={label}
						description={`${description}. The default is “${options[0]?.label}”.`}
						{...form.getInputProps(name)}
					>
						<Stack gap="xs" mt="xs">
							{options.map(({ value, label }) => (
								<Radio key={value} value={value} label={label} />
							))}
						</Stack>
					</Radio.Group>
				))}
				<SaveButton isSaving={saving.isSaving} isDirty={form.isDirty()} />
			</Stack>
		</form>
	);
}
