import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { forgetReadings } from "../../queries.ts";
import { ErrorState } from "../error-state.tsx";
import { useReturnFocus } from "../return-focus.ts";
import { applyServerErrors } from "../server-errors.ts";

const KINDS = [
	{ value: "EMPLOYEE", label: "Employee" },
	{ value: "CONTRACTOR", label: "Contractor" },
	{ value: "SERVICE_ACCOUNT", label: "Service account" },
] as const;

type Kind = (typeof KINDS)[number]["value"];

/**
 * Creates a person with only the required fields, without leaving the form from which it was
 * opened.
 */
export function CreatePerson({
	onClose,
	onCreated,
}: {
	onClose: () => void;
	onCreated: (id: string) => void;
}) {
	const { organizationId } = useOrganization();
	useReturnFocus();
	const [refusal, setRefusal] = useState<unknown>(null);
	const form = useForm({
		initialValues: {
			full_name: "",
			primary_email_address: "",
			kind: "EMPLOYEE" as Kind,
		},
		validate: {
			full_name: (text) => (text.trim() ? null : "Enter a name."),
			primary_email_address: (text) =>
				text.trim() ? null : "Enter an e-mail address.",
		},
	});
	const creating = useMutation({
		mutationFn: (values: typeof form.values) =>
			call("addPeople", { organization_id: organizationId, ...values }),
		onSuccess: async ({ people }) => {
			await forgetReadings();
			onCreated(people.id);
		},
		onError: (error) => {
			const rest = applyServerErrors(form, error, Object.keys(form.values));
			setRefusal(rest && new ApiError(400, "refused", rest));
		},
	});
	const submit = (event: FormEvent<HTMLFormElement>) => {
		// This form may be inside another one, which must not be submitted too.
		event.stopPropagation();
		setRefusal(null);
		form.onSubmit((values) => creating.mutate(values))(event);
	};
	return (
		<Modal
			opened
			onClose={onClose}
			title="Create a person"
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<form onSubmit={submit} noValidate>
				<Stack>
					{refusal !== null && (
						<ErrorState error={refusal} title="The person was not created" />
					)}
					<TextInput
						label="Full name"
						data-autofocus
						withAsterisk
						{...form.getInputProps("full_name")}
					/>
					<TextInput
						label="E-mail address"
						type="email"
						withAsterisk
						{...form.getInputProps("primary_email_address")}
					/>
					<Select
						label="Kind"
						data={KINDS}
						allowDeselect={false}
						{...form.getInputProps("kind")}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={creating.isPending}>
							Create the person
						</Button>
					</Group>
				</Stack>
			</form>
		</Modal>
	);
}
