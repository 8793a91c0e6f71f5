import {
	Button,
	Group,
	Modal,
	Stack,
	Text,
	Textarea,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import type { MyCheck, MyDevice } from "../../../../src/my-devices/page.ts";
import { request } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { DateTime } from "../../parts/time.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { queryClient } from "../../queries.ts";
import { checkLabel } from "../devices/checks.ts";
import { MY_DEVICES_KEY } from "./query-key.ts";

const DAY_MS = 86_400_000;
const USUAL_DAYS = 30;

const dayIn = (days: number) => {
	const date = new Date(Date.now() + days * DAY_MS);
	return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
		.map((part) => String(part).padStart(2, "0"))
		.join("-");
};

/** The end of the day in the reader's time zone. */
const endOf = (day: string) => new Date(`${day}T23:59:59`);

/** States in which the reader can ask for an exception. */
const CAN_ASK = ["FAILING", "IN_GRACE", "UNKNOWN"];

/** Says what became of an exception, and offers to ask for one where it makes sense. */
export function ExceptionOf({
	device,
	check,
}: {
	device: MyDevice;
	check: MyCheck;
}) {
	const [isAsking, setIsAsking] = useState(false);
	const status = check.exception?.status;
	const isOpen = status === "REQUESTED" || status === "SCHEDULED";
	const canAsk = !isOpen && check.state && CAN_ASK.includes(check.state);
	return (
		<>
			<Decision check={check} />
			{canAsk && (
				<Button
					variant="default"
					size="compact-md"
					style={{ alignSelf: "flex-start" }}
					aria-label={`Ask for an exception: ${checkLabel(check.check_key)}`}
					onClick={() => setIsAsking(true)}
				>
					Ask for an exception
				</Button>
			)}
			{isAsking && (
				<Form
					device={device}
					check={check}
					onClose={() => setIsAsking(false)}
				/>
			)}
		</>
	);
}

function Decision({ check }: { check: MyCheck }) {
	const { exception, excepted_until } = check;
	if (check.state === "EXCEPTED" && excepted_until) {
		return (
			<Text size="sm">
				An exception was approved. It ends on{" "}
				<DateTime value={excepted_until} />.
			</Text>
		);
	}
	if (!exception) return null;
	const { status, requested_at, ends_at, reason } = exception;
	return (
		<Stack gap={2}>
			<Text size="sm">
				{status === "REQUESTED" && (
					<>
						An exception was requested on <DateTime value={requested_at} />,
						until <DateTime value={ends_at} />. It counts once an administrator
						approves it.
					</>
				)}
				{(status === "SCHEDULED" || status === "IN_FORCE") && (
					<>
						An exception was approved. It ends on <DateTime value={ends_at} />.
					</>
				)}
				{status === "REJECTED" && (
					<>
						An administrator did not approve the exception that was requested on{" "}
						<DateTime value={requested_at} />.
					</>
				)}
			</Text>
			{reason && (
				<Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
					Your reason: {reason}
				</Text>
			)}
		</Stack>
	);
}

function Form({
	device,
	check,
	onClose,
}: {
	device: MyDevice;
	check: MyCheck;
	onClose: () => void;
}) {
	useReturnFocus();
	const form = useForm({
		initialValues: { reason: "", ends_at: dayIn(USUAL_DAYS) },
		validate: {
			reason: (reason) => (reason.trim() ? null : "Say why"),
			ends_at: (day) =>
				endOf(day).getTime() > Date.now() ? null : "Choose a day to come",
		},
	});
	const saving = useSaving(
		form,
		({ reason, ends_at }) =>
			request("/api/my-devices/request-exception", {
				body: {
					device_id: device.id,
					check_key: check.check_key,
					reason: reason.trim(),
					ends_at: endOf(ends_at).toISOString(),
				},
			}),
		async () => {
			await queryClient.invalidateQueries({ queryKey: MY_DEVICES_KEY });
			notifications.show({
				message: "Your request was sent. An administrator decides about it.",
			});
			onClose();
		},
	);
	return (
		<Modal
			opened
			onClose={onClose}
			title={`Ask for an exception: ${checkLabel(check.check_key)}`}
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<form noValidate onSubmit={saving.submit}>
				<Stack>
					{saving.refusal && (
						<ErrorState
							error={saving.refusal}
							title="The exception was not requested"
						/>
					)}
					<Text size="sm">
						With an exception, {device.name ?? "this device"} may fail the check
						for a while. An administrator decides about it.
					</Text>
					<Textarea
						label="Reason"
						description="Why you cannot fix it now, and what you do instead. Administrators and auditors read it."
						withAsterisk
						data-autofocus
						autosize
						minRows={3}
						maxRows={10}
						maxLength={5000}
						{...form.getInputProps("reason")}
					/>
					<TextInput
						type="date"
						label="Last day"
						description="A year from now at the latest."
						withAsterisk
						min={dayIn(0)}
						max={dayIn(365)}
						maw={220}
						{...form.getInputProps("ends_at")}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							Ask for it
						</Button>
					</Group>
				</Stack>
			</form>
		</Modal>
	);
}
