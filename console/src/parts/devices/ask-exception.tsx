import { Button, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { DAY_MS } from "../../../../src/units.ts";
import { dayOf } from "../days.ts";
import { Dialog } from "../dialog.tsx";
import { ErrorState } from "../error-state.tsx";
import { useReturnFocus } from "../return-focus.ts";
import { useSaving } from "../use-saving.ts";
import { checkLabel } from "./check-label.ts";
import { latestDay, problemOfLastDay } from "./exception-days.ts";

const USUAL_DAYS = 30;

const dayIn = (days: number) => dayOf(new Date(Date.now() + days * DAY_MS));

/** Asks the owner of a device why and until when it may fail a check. */
export function AskException({
	checkKey,
	device,
	ask,
	onAsked,
	onClose,
}: {
	checkKey: string;
	/** The name of the device. */
	device: string;
	/** Sends the request, with the last day of the exception. */
	ask: (reason: string, lastDay: string) => Promise<unknown>;
	onAsked: () => Promise<unknown>;
	onClose: () => void;
}) {
	useReturnFocus();
	const form = useForm({
		initialValues: { reason: "", ends_at: dayIn(USUAL_DAYS) },
		validate: {
			reason: (reason) => (reason.trim() ? null : "Say why."),
			ends_at: problemOfLastDay,
		},
	});
	const saving = useSaving(
		form,
		({ reason, ends_at }) => ask(reason.trim(), ends_at),
		async () => {
			await onAsked();
			notifications.show({
				message: "Your request was sent. An administrator decides about it.",
			});
			onClose();
		},
	);
	return (
		<Dialog
			opened
			onClose={onClose}
			title={`Ask for an exception: ${checkLabel(checkKey)}`}
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
						With an exception, {device} may fail the check for a while. An
						administrator decides about it.
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
						max={latestDay()}
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
		</Dialog>
	);
}
