import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../../api.ts";
import { ownTimeZone } from "../../parts/days.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";

/** Creates another organization and then opens its first steps. */
export function CreateOrganization({
	opened,
	onClose,
}: {
	opened: boolean;
	onClose: () => void;
}) {
	const navigate = useNavigate();
	const form = useForm({ initialValues: { name: "" } });
	const saving = useSaving(
		form,
		({ name }) =>
			call("createOrganization", {
				name: name.trim(),
				time_zone: ownTimeZone(),
			}),
		async ({ organization }) => {
			// The list of organizations is loaded first, because the address of an unknown organization
			// would not be found.
			await forgetReadings();
			close();
			await navigate({
				to: "/o/$org/first-steps",
				params: { org: organization.id },
				ignoreBlocker: true,
			});
		},
	);
	const close = () => {
		saving.clear();
		onClose();
	};
	return (
		<Dialog opened={opened} onClose={close} title="Create another organization">
			<form noValidate onSubmit={saving.submit}>
				<Stack>
					{saving.refusal && (
						<ErrorState
							error={saving.refusal}
							title="The organization was not created"
						/>
					)}
					<Text size="sm">
						It has its own members, devices, registers and audit log, separate
						from your other organizations. You become its administrator.
					</Text>
					<TextInput
						label="Name"
						withAsterisk
						data-autofocus
						autoComplete="off"
						{...form.getInputProps("name")}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={close}>
							Cancel
						</Button>
						<Button type="submit" loading={saving.isSaving}>
							Create the organization
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
