import {
	Button,
	Checkbox,
	Group,
	Select,
	Stack,
	Textarea,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import {
	CHECK_KEYS,
	PLATFORM_NAMES,
	type Platform,
} from "../../../../src/devices/terms.ts";
import { DAY_MS } from "../../../../src/units.ts";
import { call, type InputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { dayOf, endOfDay } from "../../parts/days.ts";
import {
	groupOptions,
	useLoadedGroups,
} from "../../parts/devices/device-groups.ts";
import { type Device, deviceName } from "../../parts/devices/device-words.tsx";
import {
	latestDay,
	problemOfLastDay,
} from "../../parts/devices/exception-days.ts";
import { NoGroup } from "../../parts/devices/no-group.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { checkLabel } from "./checks.ts";
import { useGroupInPlace } from "./use-group-in-place.tsx";

const USUAL_DAYS = 30;

/** The last second of the day in the organization's time zone. */
const endOf = (day: string) => new Date(Date.parse(endOfDay(day)) - 1000);

/**
 * Asks for an exception from a check: for the given device, or for what the user chooses. An
 * administrator may approve it in the same step, unless the policy demands two people.
 */
export function ExceptionForm({
	checkKey,
	device,
	onClose,
}: {
	checkKey?: string;
	device?: Device;
	onClose: () => void;
}) {
	const { organizationId, mayAdmin } = useOrganization();
	useReturnFocus();
	const organization = { organization_id: organizationId };
	const policy = useQuery(operationQuery("getDevicePolicy", organization)).data
		?.policy;
	const groups = useLoadedGroups(organizationId);
	const mayApprove = mayAdmin && policy?.exceptions_need_two_people === false;
	const form = useForm({
		initialValues: {
			check: checkKey ?? "",
			covers: device ? "device_id" : "group_id",
			group_id: "",
			platform: "LINUX",
			reason: "",
			ends_at: dayOf(new Date(Date.now() + USUAL_DAYS * DAY_MS)),
			is_approved: false,
		},
		validate: {
			check: (check) => (check ? null : "Choose a check"),
			group_id: (id, { covers }) =>
				covers !== "group_id" || id ? null : "Choose a group",
			reason: (reason) => (reason.trim() ? null : "Say why."),
			ends_at: problemOfLastDay,
		},
	});
	const adding = useGroupInPlace((id) => form.setFieldValue("group_id", id));
	const lacksGroup = form.values.covers === "group_id" && groups?.length === 0;
	const saving = useSaving(
		form,
		async (values) => {
			const { device_exception: added } = await call("addDeviceException", {
				...organization,
				check: values.check,
				...coveredBy(values, device),
				reason: values.reason.trim(),
				ends_at: endOf(values.ends_at).toISOString(),
			});
			if (!values.is_approved) return added;
			const approved = await call("approveDeviceException", { id: added.id });
			return approved.device_exception;
		},
		async ({ status }) => {
			await forgetReadings();
			notifications.show({
				message:
					status === "REQUESTED"
						? "The exception is requested. It counts once an administrator approves it."
						: "The exception is in force.",
			});
			onClose();
		},
	);
	const covers = [
		...(device
			? [{ value: "device_id", label: `This device (${deviceName(device)})` }]
			: []),
		{ value: "group_id", label: "A group of devices" },
		{ value: "platform", label: "A platform" },
		{ value: "all", label: "All devices" },
	];
	return (
		<>
			{adding.form}
			<Dialog
				opened
				onClose={onClose}
				size="lg"
				title={
					checkKey ? `Exception from ${checkLabel(checkKey)}` : "New exception"
				}
			>
				<form noValidate onSubmit={saving.submit}>
					<Stack>
						{saving.refusal && (
							<ErrorState
								error={saving.refusal}
								title="The exception was not saved"
							/>
						)}
						{!checkKey && (
							<Select
								label={FIELD_LABELS.device_exception.check_key}
								withAsterisk
								data-autofocus
								searchable
								data={(
									policy?.checks.map(({ check_key }) => check_key) ?? CHECK_KEYS
								).map((key) => ({ value: key, label: checkLabel(key) }))}
								{...form.getInputProps("check")}
							/>
						)}
						<Group align="flex-start" grow preventGrowOverflow={false}>
							<Select
								label={FIELD_LABELS.device_exception.scope}
								allowDeselect={false}
								data={covers}
								miw={200}
								{...form.getInputProps("covers")}
							/>
							{form.values.covers === "group_id" && !lacksGroup && (
								<Select
									label={FIELD_LABELS.device_exception.group_id}
									withAsterisk
									miw={200}
									{...groupOptions(groups ?? [])}
									{...adding.picker}
									{...form.getInputProps("group_id")}
								/>
							)}
							{form.values.covers === "platform" && (
								<Select
									label={FIELD_LABELS.device_exception.platform}
									allowDeselect={false}
									miw={200}
									data={Object.entries(PLATFORM_NAMES).map(
										([value, label]) => ({
											value,
											label,
										}),
									)}
									{...form.getInputProps("platform")}
								/>
							)}
						</Group>
						{lacksGroup && <NoGroup {...adding.offer} />}
						<Textarea
							label={FIELD_LABELS.device_exception.reason}
							description="Why the check may fail, and what is done instead. Auditors read it."
							withAsterisk
							data-autofocus={checkKey !== undefined || undefined}
							autosize
							minRows={3}
							maxRows={10}
							{...form.getInputProps("reason")}
						/>
						<TextInput
							type="date"
							label={FIELD_LABELS.device_exception.ends_at}
							description="An exception ends by itself, after a year at the latest."
							withAsterisk
							min={dayOf(new Date())}
							max={latestDay()}
							maw={220}
							{...form.getInputProps("ends_at")}
						/>
						{mayApprove && (
							<Checkbox
								label="Approve it now"
								description="The audit log says that you requested and approved it."
								{...form.getInputProps("is_approved", { type: "checkbox" })}
							/>
						)}
						<Group justify="flex-end">
							<Button variant="default" onClick={onClose}>
								Cancel
							</Button>
							<Button
								type="submit"
								disabled={lacksGroup}
								loading={saving.isSaving}
							>
								{form.values.is_approved ? "Add the exception" : "Request it"}
							</Button>
						</Group>
					</Stack>
				</form>
			</Dialog>
		</>
	);
}

function coveredBy(
	values: { covers: string; group_id: string; platform: string },
	device: Device | undefined,
): Pick<InputOf<"addDeviceException">, "device_id" | "group_id" | "platform"> {
	switch (values.covers) {
		case "device_id":
			return device ? { device_id: device.id } : {};
		case "group_id":
			return { group_id: values.group_id };
		case "platform":
			return { platform: values.platform as Platform };
		default:
			return {};
	}
}
