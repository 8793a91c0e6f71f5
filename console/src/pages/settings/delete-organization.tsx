import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { GRACE_DAYS } from "../../../../src/organizations/days.ts";
import { call } from "../../api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { stopGuarding } from "../../parts/leave-guard.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { useSaving } from "../../parts/use-saving.ts";
import { queryClient } from "../../queries.ts";

/** Lets an administrator close the organization, which is deleted two weeks later. */
export function DeleteOrganization({
	organization,
}: {
	organization: { id: string; name: string };
}) {
	const [isOpen, setIsOpen] = useState(false);
	return (
		<>
			<Group justify="space-between">
				<Text size="sm" maw={460}>
					The organization closes at once for everybody, and is deleted with
					everything in it after {GRACE_DAYS} days. Until then, the people who
					run this service can restore it.
				</Text>
				<Button
					variant="default"
					c="var(--mantine-color-error)"
					onClick={() => setIsOpen(true)}
				>
					Delete the organization
				</Button>
			</Group>
			<DeleteDialog
				opened={isOpen}
				organization={organization}
				onClose={() => setIsOpen(false)}
			/>
		</>
	);
}

function DeleteDialog({
	opened,
	organization: { id, name },
	onClose,
}: {
	opened: boolean;
	organization: { id: string; name: string };
	onClose: () => void;
}) {
	useReturnFocus(opened);
	const form = useForm({
		initialValues: { name: "", reason: "" },
		validate: {
			name: (text) =>
				text === name ? null : "Enter the name exactly as it is shown above.",
			reason: (text) => (text.trim() ? null : "Enter a reason."),
		},
	});
	const saving = useSaving(
		form,
		(values) => call("deleteOrganization", { organization_id: id, ...values }),
		() => {
			// The start page leads to another organization, or says that this one is closed.
			queryClient.clear();
			stopGuarding();
			location.assign("/");
		},
	);
	return (
		<Dialog opened={opened} onClose={onClose} title={`Delete ${name}?`}>
			<form noValidate onSubmit={saving.submit}>
				<Stack>
					{saving.refusal && (
						<ErrorState error={saving.refusal} title="Nothing was deleted" />
					)}
					<Text size="sm">
						Nobody reaches the registers any more, and devices stop reporting.
						After {GRACE_DAYS} days, records, devices, evidence and the audit
						log are gone.
					</Text>
					<TextInput
						label="Name of the organization"
						description={`Enter “${name}” to be sure.`}
						autoComplete="off"
						data-autofocus
						{...form.getInputProps("name")}
					/>
					<TextInput
						label={FIELD_LABELS.organization.reason}
						description="Everybody who is turned away reads it."
						maxLength={500}
						autoComplete="off"
						{...form.getInputProps("reason")}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" color="red.9" loading={saving.isSaving}>
							Delete {name}
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
