import { Button, Group, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { call } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import { forgetReadings } from "../../queries.ts";

/** Adds a domain, which is not verified yet. */
export function AddDomain({ organizationId }: { organizationId: string }) {
	const form = useForm({ initialValues: { domain: "" } });
	const saving = useSaving(
		form,
		({ domain }) =>
			call("addDomain", {
				organization_id: organizationId,
				domain: domain.trim(),
			}),
		async () => {
			form.reset();
			await forgetReadings();
		},
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			{saving.refusal && (
				<ErrorState error={saving.refusal} title="Not added" />
			)}
			<Group align="flex-start" gap="sm">
				<TextInput
					label="Add a domain"
					placeholder="example.com"
					maxLength={253}
					autoComplete="off"
					miw={240}
					{...form.getInputProps("domain")}
				/>
				<Button
					type="submit"
					variant="default"
					mt={25}
					loading={saving.isSaving}
					disabled={!form.isDirty()}
				>
					Add
				</Button>
			</Group>
		</form>
	);
}
