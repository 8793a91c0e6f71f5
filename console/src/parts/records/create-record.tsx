import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "../../api.ts";
import type { FieldDescription } from "../../kind-description.ts";
import { describeKind, titleOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { forgetReadings } from "../../queries.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import { Dialog } from "../dialog.tsx";
import { ErrorState } from "../error-state.tsx";
import { useReturnFocus } from "../return-focus.ts";
import { applyServerErrors, askFor } from "../server-errors.ts";
import { addRecord } from "./register-calls.ts";

const TYPES = ["name", "email", "choice"];

/** Returns true for kinds whose required fields are few and short. */
export function canCreateInPlace(kind: RegisterKind): boolean {
	const required = requiredFields(kind);
	return (
		required.length > 0 && required.every(({ type }) => TYPES.includes(type))
	);
}

function requiredFields(kind: RegisterKind): FieldDescription[] {
	return describeKind(kind).fields.filter(({ given }) => given === "required");
}

/**
 * Creates a record with only the required fields, without leaving the form from which it was
 * opened. A choice begins with its first value.
 */
export function CreateRecord({
	kind,
	onClose,
	onCreated,
}: {
	kind: RegisterKind;
	onClose: () => void;
	onCreated: (id: string, name: string) => void;
}) {
	const { organizationId } = useOrganization();
	useReturnFocus();
	const [refusal, setRefusal] = useState<unknown>(null);
	const description = describeKind(kind);
	const { noun } = description;
	const fields = requiredFields(kind);
	const form = useForm<Record<string, string>>({
		initialValues: Object.fromEntries(
			fields.map(({ name, choices }) => [name, choices?.[0]?.value ?? ""]),
		),
		validate: (values) =>
			Object.fromEntries(
				fields
					.filter(({ name }) => !values[name]?.trim())
					.map(({ name, label }) => [name, askFor(label)]),
			),
	});
	const creating = useMutation({
		mutationFn: (values: Record<string, string>) =>
			addRecord(description, organizationId, values),
		onSuccess: async (record) => {
			await forgetReadings();
			onCreated(record.id, titleOf(description, record));
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
		<Dialog opened onClose={onClose} title={`Create a ${noun}`}>
			<form onSubmit={submit} noValidate>
				<Stack>
					{refusal !== null && (
						<ErrorState error={refusal} title={`The ${noun} was not created`} />
					)}
					{fields.map(({ name, label, type, choices }, index) =>
						type === "choice" ? (
							<Select
								key={name}
								label={label}
								data={[...(choices ?? [])]}
								allowDeselect={false}
								{...form.getInputProps(name)}
							/>
						) : (
							<TextInput
								key={name}
								label={label}
								type={type === "email" ? "email" : "text"}
								data-autofocus={index === 0 || undefined}
								withAsterisk
								{...form.getInputProps(name)}
							/>
						),
					)}
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={creating.isPending}>
							Create the {noun}
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
