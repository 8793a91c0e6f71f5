import { Button, Stack } from "@mantine/core";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { ReferencePicker } from "../../parts/records/reference-picker.tsx";
import { CreatePerson } from "./create-person.tsx";

/** Chooses the owner of a device. The reader can add a missing person without leaving the form. */
export function OwnerField({
	value,
	onChange,
	error,
}: {
	value: string | null;
	onChange: (id: string | null) => void;
	error?: React.ReactNode;
}) {
	const { organizationId } = useOrganization();
	const [isCreating, setCreating] = useState(false);
	return (
		<Stack gap={6} align="flex-start" maw={420}>
			<ReferencePicker
				organizationId={organizationId}
				kind="people"
				label="Owner"
				description="The person who uses it. Leave it empty for a shared device."
				placeholder="Type a name"
				w="100%"
				value={value}
				onChange={onChange}
				error={error}
			/>
			<Button
				variant="subtle"
				size="compact-sm"
				px={0}
				onClick={() => setCreating(true)}
			>
				Create a person
			</Button>
			{isCreating && (
				<CreatePerson
					onClose={() => setCreating(false)}
					onCreated={(id) => {
						setCreating(false);
						onChange(id);
					}}
				/>
			)}
		</Stack>
	);
}
