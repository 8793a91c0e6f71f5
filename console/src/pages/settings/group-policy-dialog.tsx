import {
	Button,
	Group,
	NumberInput,
	Select,
	SimpleGrid,
	Stack,
	Text,
} from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import {
	MAX_GRACE_DAYS,
	SILENCE_DAYS,
} from "../../../../src/devices/check-rules.ts";
import { ApiError, call, type InputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { CardTable } from "../../parts/card-table.tsx";
import {
	groupOptions,
	useLoadedGroups,
} from "../../parts/devices/device-groups.ts";
import { NoGroup } from "../../parts/devices/no-group.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS, RULE_LABELS } from "../../parts/field-labels.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { forgetReadings } from "../../queries.ts";
import { useGroupInPlace } from "../devices/use-group-in-place.tsx";
import type { Policy } from "./check-rules-table.tsx";
import {
	boundsOf,
	describeChoice,
	POLICY_CHOICES,
	POLICY_FIELDS,
} from "./device-policy-fields.ts";
import { CHANGED_MEANWHILE } from "./device-policy-form.tsx";
import type { GroupPolicy } from "./group-policies.tsx";
import { PolicyEffects } from "./policy-effects.tsx";

type Change = InputOf<"setDeviceGroupPolicy">;

/** An empty text, or no choice, means the organization's value. */
interface Values extends Record<string, unknown> {
	group_id: string | null;
	numbers: Record<string, number | string>;
	choices: Record<string, string | null>;
	checks: {
		check_key: string;
		is_required: string | null;
		grace_days: number | string;
		new_device_grace_days: number | string;
	}[];
}

const GRACES = ["grace_days", "new_device_grace_days"] as const;

/** The numbers of a policy that are not about one check. */
const NUMBERS = [
	...POLICY_FIELDS.map((field) => ({ ...field, ...boundsOf(field) })),
	{
		name: "max_silence_days" as const,
		label: FIELD_LABELS.device_group_policy.max_silence_days,
		unit: "days",
		perUnit: 1,
		min: SILENCE_DAYS.least,
		max: SILENCE_DAYS.most,
	},
];

/**
 * Sets what the policy of a group replaces. It shows how many devices change their state before it
 * saves.
 */
export function GroupPolicyDialog({
	policy,
	groupId,
	usual,
	taken,
	onClose,
}: {
	/** Undefined for a new policy. */
	policy: GroupPolicy | undefined;
	/** The group that is chosen at first for a new policy. */
	groupId: string | undefined;
	/** The organization's policy. */
	usual: Policy;
	/** Ids of the groups that have a policy. */
	taken: readonly string[];
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	useReturnFocus();
	const groups = useLoadedGroups(organizationId, { enabled: !policy });
	const free = groups?.filter(({ id }) => !taken.includes(id));
	const form = useForm<Values>({
		initialValues: toValues(policy, groupId, usual),
		validate: {
			numbers: Object.fromEntries(
				NUMBERS.map(({ name, min, max }) => [name, isEmptyOr(min, max)]),
			),
			checks: Object.fromEntries(
				GRACES.map((name) => [name, isEmptyOr(0, MAX_GRACE_DAYS)]),
			),
		},
	});
	const adding = useGroupInPlace((id) => form.setFieldValue("group_id", id));
	const send = (values: Values, more: Partial<Change> = {}) =>
		call("setDeviceGroupPolicy", {
			...toChange(values, policy),
			...more,
		}).catch((error) => {
			throw error instanceof ApiError && error.code === "conflict"
				? new ApiError(error.status, error.code, CHANGED_MEANWHILE)
				: error;
		});
	const preview = useMutation({
		mutationFn: (values: Values) => send(values, { dry_run: true }),
	});
	const saving = useMutation({
		mutationFn: (values: Values) => send(values),
		onSuccess: async ({ group_policy: { group_name } }) => {
			await forgetReadings();
			notifications.show({
				message: `The policy of “${group_name}” is saved.`,
			});
			onClose();
		},
	});
	const refusal = saving.error ?? preview.error;
	const hasGroup =
		policy !== undefined ||
		free?.some(({ id }) => id === form.values.group_id) === true;
	return (
		<>
			{adding.form}
			<Dialog
				opened
				onClose={onClose}
				size={860}
				title={
					policy ? `Policy of “${policy.group_name}”` : "Policy of a group"
				}
			>
				<form
					noValidate
					onSubmit={form.onSubmit((values) =>
						preview.isSuccess ? saving.mutate(values) : preview.mutate(values),
					)}
				>
					<Stack>
						{refusal && <ErrorState error={refusal} title="Not saved" />}
						{preview.data?.effects ? (
							<>
								<PolicyEffects effects={preview.data.effects} />
								{preview.data.rest_follows && (
									<Text size="sm">
										The change reaches so many devices that these numbers may
										leave some out. The service changes the rest after you save.
									</Text>
								)}
							</>
						) : !policy && free?.length === 0 ? (
							<NoGroup {...adding.offer}>
								{taken.length > 0
									? "Every group has a policy already."
									: "There is no group yet."}
							</NoGroup>
						) : (
							<Fields form={form} usual={usual}>
								{!policy && (
									<Select
										label="Group"
										withAsterisk
										{...groupOptions(free ?? [])}
										maw={360}
										data-autofocus
										{...adding.picker}
										{...form.getInputProps("group_id")}
									/>
								)}
							</Fields>
						)}
						<Group justify="flex-end">
							<Button
								variant="default"
								onClick={preview.isSuccess ? preview.reset : onClose}
							>
								{preview.isSuccess ? "Back" : "Cancel"}
							</Button>
							<Button
								type="submit"
								disabled={!hasGroup}
								loading={preview.isPending || saving.isPending}
							>
								{preview.isSuccess ? "Save the policy" : "Preview"}
							</Button>
						</Group>
					</Stack>
				</form>
			</Dialog>
		</>
	);
}

function Fields({
	form,
	usual,
	children,
}: {
	form: Pick<UseFormReturnType<Values>, "values" | "getInputProps">;
	usual: Policy;
	children: React.ReactNode;
}) {
	const ofCheck = (key: string) =>
		usual.checks.find(({ check_key }) => check_key === key);
	const nameOf = (key: string) => ofCheck(key)?.check_name ?? key;
	return (
		<>
			{children}
			<Text size="sm" c="dimmed">
				An empty field has the organization's value, which it shows in gray.
			</Text>
			<CardTable
				label="Rules by check"
				minWidth={640}
				columns={[
					"Check",
					RULE_LABELS.is_required,
					RULE_LABELS.grace_days,
					"For new devices",
				]}
				rows={form.values.checks.map(({ check_key: key }, index) => ({
					key,
					cells: [
						nameOf(key),
						<Select
							key="required"
							size="xs"
							w={200}
							maw="100%"
							clearable
							clearButtonProps={{
								"aria-label": `${nameOf(key)}: as the organization`,
							}}
							placeholder={
								ofCheck(key)?.is_required ? "Required" : "Not required"
							}
							data={REQUIRED}
							aria-label={`${nameOf(key)}: required`}
							{...form.getInputProps(`checks.${index}.is_required`)}
						/>,
						...GRACES.map((name) => (
							<NumberInput
								key={name}
								size="xs"
								w={110}
								allowDecimal={false}
								allowNegative={false}
								placeholder={String(ofCheck(key)?.[name] ?? "")}
								aria-label={`${nameOf(key)}: ${RULE_LABELS[name].toLowerCase()}`}
								{...form.getInputProps(`checks.${index}.${name}`)}
							/>
						)),
					],
				}))}
			/>
			<SimpleGrid cols={{ base: 1, sm: 2 }}>
				{NUMBERS.map(({ name, label, unit, perUnit, min, max }) => (
					<NumberInput
						key={name}
						label={label}
						description={`From ${min} to ${max} ${unit}`}
						placeholder={String(usual[name] / perUnit)}
						allowDecimal={perUnit > 1}
						decimalScale={2}
						allowNegative={false}
						{...form.getInputProps(`numbers.${name}`)}
					/>
				))}
				{POLICY_CHOICES.map((choice) => (
					<Select
						key={choice.name}
						label={choice.label}
						description={choice.description}
						clearable
						clearButtonProps={{
							"aria-label": `${choice.label}: as the organization`,
						}}
						placeholder={describeChoice(choice, usual[choice.name])}
						data={choice.options}
						{...form.getInputProps(`choices.${choice.name}`)}
					/>
				))}
			</SimpleGrid>
		</>
	);
}

const REQUIRED = [
	{ value: "true", label: "Required" },
	{ value: "false", label: "Not required" },
];

const isEmptyOr = (min: number, max: number) => (value: unknown) =>
	value === "" || (typeof value === "number" && value >= min && value <= max)
		? null
		: `Give a number from ${min} to ${max}, or leave it empty`;

function toValues(
	policy: GroupPolicy | undefined,
	groupId: string | undefined,
	usual: Policy,
): Values {
	const keys = new Set([
		...usual.checks.map(({ check_key }) => check_key),
		...(policy?.checks ?? []).map(({ check_key }) => check_key),
	]);
	return {
		group_id: policy?.group_id ?? groupId ?? null,
		numbers: Object.fromEntries(
			NUMBERS.map(({ name, perUnit }) => {
				const value = policy?.[name] ?? null;
				return [name, value === null ? "" : value / perUnit];
			}),
		),
		choices: Object.fromEntries(
			POLICY_CHOICES.map(({ name }) => [name, policy?.[name] ?? null]),
		),
		checks: [...keys].map((check_key) => {
			const rule = policy?.checks.find((one) => one.check_key === check_key);
			const required = rule?.is_required ?? null;
			return {
				check_key,
				is_required: required === null ? null : String(required),
				grace_days: rule?.grace_days ?? "",
				new_device_grace_days: rule?.new_device_grace_days ?? "",
			};
		}),
	};
}

const orNull = (value: unknown, perUnit = 1) =>
	typeof value === "number" ? Math.round(value * perUnit) : null;

function toChange(values: Values, policy: GroupPolicy | undefined): Change {
	return {
		group_id: values.group_id ?? "",
		...(policy && { if_updated_at: policy.updated_at }),
		...Object.fromEntries(
			NUMBERS.map(({ name, perUnit }) => [
				name,
				orNull(values.numbers[name], perUnit),
			]),
		),
		...Object.fromEntries(
			POLICY_CHOICES.map(({ name }) => [name, values.choices[name] ?? null]),
		),
		checks: values.checks.map((rule) => ({
			check_key: rule.check_key,
			is_required:
				rule.is_required === null ? null : rule.is_required === "true",
			grace_days: orNull(rule.grace_days),
			new_device_grace_days: orNull(rule.new_device_grace_days),
		})),
	};
}
