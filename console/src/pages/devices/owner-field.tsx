import { Box } from "@mantine/core";
import type { ReactNode } from "react";
import { useOrganization } from "../../organization.ts";
import { PersonField } from "../../parts/records/person-field.tsx";

/** Chooses the owner of a device. */
export function OwnerField(props: {
	value: string | null;
	onChange: (id: string | null) => void;
	error?: ReactNode;
}) {
	const { organizationId } = useOrganization();
	return (
		<Box maw={420}>
			<PersonField
				organizationId={organizationId}
				label="Owner"
				description="The person who uses it. Leave it empty for a shared device."
				placeholder="Choose or type a name"
				{...props}
			/>
		</Box>
	);
}
