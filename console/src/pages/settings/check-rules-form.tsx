import {
	Button,
	Checkbox,
	Group,
	MultiSelect,
	NumberInput,
	Select,
	Stack,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import {
	MAX_GRACE_DAYS,
	SILENCE_DAYS,
} from "../../../../src/devices/check-rules.ts";
import { PLATFORM_NAMES } from "../../../../src/devices/terms.ts";
import { ApiError, call, type InputOf } from "../../api.ts";
import { CardTable } from "../../parts/card-table.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS, RULE_LABELS } from "../../parts/field-labels.ts";
import { ReferencePicker } from "../../parts/records/reference-picker.tsx";
import { forgetReadings } from "../../queries.ts";
import type { Policy } from "./check-rules-table.tsx";
import { CHANGED_MEANWHILE } from "./device-policy-form.tsx";
import { PolicyEffects } from "./policy-effects.tsx";

type Change = InputOf<"updateDevicePolicy">;
type Rule = Policy["checks"][number];

interface Values extends Record<string, unknown> {
	max_silence_days: number | string;
	exceptions_need_two_people: boolean;
	checks: Rule[];
}

const isWithin = (value: unknown, least: number, most: number) =>
	typeof value === "number" && value >= least && value <= most;

const daysFrom = (least: number, most: number) => (value: unknown) =>
	isWithin(value, least, most)
		? null
		: `Give a number from ${least} to ${most}`;

/** Changes the rules of the checks. It shows what would change before it saves. */
export function CheckRulesForm({
	organizationId,
	policy,
}: {
	organizationId: string;
	policy: Policy;
}) {
	const form = useForm<Values>({
		initialValues: {
			max_silence_days: policy.max_silence_days,
			exceptions_need_two_people: policy.exceptions_need_two_people,
			checks: policy.checks,
		},
		validate: {
			max_silence_days: daysFrom(SILENCE_DAYS.least, SILENCE_DAYS.most),
			checks: {
				platforms: (value) => (value.length > 0 ? null : "Choose one"),
				grace_days: daysFrom(0, MAX_GRACE_DAYS),
				new_device_grace_days: daysFrom(0, MAX_GRACE_DAYS),
			},
		},
	});
	const change = (values: Values, more: Partial<Change>): Change => ({
		organization_id: organizationId,
		if_updated_at: policy.updated_at,
		max_silence_days: Number(values.max_silence_days),
		exceptions_need_two_people: values.exceptions_need_two_people,
		checks: values.checks
			.filter((_, index) => form.isDirty(`checks.${index}`))
			.map(({ check_name: _, owner_has_left: __, ...rule }) => rule),
		...more,
	});
	const send = (values: Values, more: Partial<Change> = {}) =>
		call("updateDevicePolicy", change(values, more)).catch((error) => {
			throw error instanceof ApiError && error.code === "conflict"
				? new ApiError(error.status, error.code, CHANGED_MEANWHILE)
				: error;
		});
	const preview = useMutation({
		mutationFn: (values: Values) => send(values, { dry_run: true }),
	});
	const field = (index: number, name: keyof typeof RULE_LABELS) => ({
		"aria-label": `${nameOf(policy.checks[index])}: ${RULE_LABELS[name].toLowerCase()}`,
		...form.getInputProps(`checks.${index}.${name}`),
	});
	return (
		<form
			noValidate
			onSubmit={form.onSubmit((values) => preview.mutate(values))}
		>
			<Stack>
				{preview.isError && (
					<ErrorState error={preview.error} title="Not saved" />
				)}
				<CardTable
					label="Rules by check"
					// At a width of 1440 px, all columns fit.
					minWidth={1100}
					firstStyle={STAYS}
					columns={[
						"Check",
						RULE_LABELS.is_required,
						RULE_LABELS.platforms,
						RULE_LABELS.grace_days,
						"For new devices",
						RULE_LABELS.opens_nonconformity,
						RULE_LABELS.severity,
						RULE_LABELS.owner_id,
					]}
					rows={policy.checks.map((rule, index) => ({
						key: rule.check_key,
						cells: [
							nameOf(rule),
							<Checkbox
								key="required"
								{...field(index, "is_required")}
								{...form.getInputProps(`checks.${index}.is_required`, {
									type: "checkbox",
								})}
							/>,
							<MultiSelect
								key="platforms"
								data={PLATFORM_CHOICES}
								miw={{ base: 0, sm: 200 }}
								size="xs"
								styles={{ inputField: { minWidth: 0 } }}
								{...field(index, "platforms")}
							/>,
							<NumberInput
								key="grace"
								w={72}
								size="xs"
								{...field(index, "grace_days")}
							/>,
							<NumberInput
								key="new"
								w={72}
								size="xs"
								{...field(index, "new_device_grace_days")}
							/>,
							<Select
								key="opens"
								w={146}
								size="xs"
								allowDeselect={false}
								data={OPENS}
								aria-label={`${nameOf(rule)}: nonconformity`}
								value={opensOf(form.values.checks[index])}
								onChange={(value) => {
									const at = `checks.${index}`;
									form.setFieldValue(
										`${at}.opens_nonconformity`,
										value !== "none",
									);
									form.setFieldValue(`${at}.per_device`, value === "device");
								}}
							/>,
							<Select
								key="severity"
								w={88}
								size="xs"
								allowDeselect={false}
								data={SEVERITIES}
								{...field(index, "severity")}
							/>,
							<ReferencePicker
								key="owner"
								organizationId={organizationId}
								kind="people"
								w={160}
								placeholder="Nobody"
								aria-label={`${nameOf(rule)}: owner`}
								value={form.values.checks[index]?.owner_id ?? null}
								error={
									rule.owner_has_left &&
									form.values.checks[index]?.owner_id === rule.owner_id &&
									"Has left"
								}
								onChange={(value: string | null) =>
									form.setFieldValue(`checks.${index}.owner_id`, value)
								}
							/>,
						],
					}))}
				/>
				<NumberInput
					label={FIELD_LABELS.device_policy.max_silence_days}
					description={`Days without a report after which a check is silent. From ${SILENCE_DAYS.least} to ${SILENCE_DAYS.most}; the default is ${SILENCE_DAYS.default}.`}
					suffix=" days"
					allowDecimal={false}
					allowNegative={false}
					maw={360}
					{...form.getInputProps("max_silence_days")}
				/>
				<Checkbox
					label={FIELD_LABELS.device_policy.exceptions_need_two_people}
					description="The administrator who approves an exception must be somebody else than the person who requested it."
					{...form.getInputProps("exceptions_need_two_people", {
						type: "checkbox",
					})}
				/>
				<Group>
					<Button
						type="submit"
						loading={preview.isPending}
						disabled={!form.isDirty()}
					>
						Preview
					</Button>
				</Group>
			</Stack>
			<Confirm
				opened={preview.isSuccess}
				onClose={preview.reset}
				title="Save the rules?"
				action="Save"
				isDangerous={false}
				onConfirm={async () => {
					await send(form.values);
					await forgetReadings();
					notifications.show({ message: "The rules are saved." });
				}}
			>
				{preview.data?.effects && (
					<PolicyEffects effects={preview.data.effects} />
				)}
			</Confirm>
		</form>
	);
}

/** The names stay in view when the table scrolls sideways. */
const STAYS = {
	position: "sticky",
	left: 0,
	zIndex: 1,
	background: "var(--mantine-color-body)",
} as const;

/** Says whether a failure opens a nonconformity, as one choice. */
const OPENS = [
	{ value: "check", label: "One for the check" },
	{ value: "device", label: "One a device" },
	{ value: "none", label: "None" },
];

const opensOf = (rule: Rule | undefined) =>
	!rule?.opens_nonconformity ? "none" : rule.per_device ? "device" : "check";

const SEVERITIES = [
	{ value: "MINOR", label: "Minor" },
	{ value: "MAJOR", label: "Major" },
];

const PLATFORM_CHOICES = Object.entries(PLATFORM_NAMES).map(
	([value, label]) => ({
		value,
		label,
	}),
);

const nameOf = (rule: Rule | undefined) =>
	rule?.check_name ?? rule?.check_key ?? "";
