import { Box } from "@mantine/core";
import type { ReactNode } from "react";
import { useOrganization } from "../../organization.ts";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { ReferenceField } from "../../parts/records/reference-field.tsx";

/** Chooses the owner of a device. */
export function OwnerField(props: {
	value: string | null;
	description?: string;
	onChange: (id: string | null) => void;
	error?: ReactNode;
}) {
	const { organizationId } = useOrganization();
	return (
		<Box maw={420}>
			<ReferenceField
				organizationId={organizationId}
				kind="people"
				label={FIELD_LABELS.device.owner_id}
				description="The person who uses it. Leave it empty for a shared device."
				placeholder="Choose or type a name"
				{...props}
			/>
		</Box>
	);
}
