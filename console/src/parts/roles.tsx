import { Radio, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import type { OutputOf } from "../api.ts";

export type Member = OutputOf<"listMembers">["members"][number];
export type Role = Member["role"];

export const ROLES: Record<Role, { label: string; may: string }> = {
	viewer: {
		label: "Viewer",
		may: "Can read everything but the audit log, and change nothing. A viewer who may read the audit log too, such as an auditor, reads everything.",
	},
	member: {
		label: "Member",
		may: "Can also add and change records. The right role for most members.",
	},
	admin: {
		label: "Administrator",
		may: "Can also delete records, add devices, invite members, change settings and read the audit log.",
	},
};

/** Tells a viewer or member how to get the right to read the audit log. */
export const ASK_FOR_AUDIT_LOG =
	"Administrators and auditors read the audit log. To read it too, ask an administrator: on the page Members, “Change role …” has the box “May read the audit log”.";

export const roleOptions = Object.entries(ROLES).map(([value, { label }]) => ({
	value,
	label,
}));

/** Shows the roles and what each may do. */
export function RoleField({
	label = "Role",
	value,
	onChange,
	error,
}: {
	label?: string;
	value: Role;
	onChange: (role: Role) => void;
	error?: ReactNode;
}) {
	return (
		<Radio.Group
			label={label}
			value={value}
			onChange={(role) => onChange(role as Role)}
			error={error}
		>
			<Stack gap="xs" mt="xs">
				{Object.entries(ROLES).map(([role, { label, may }]) => (
					<Radio key={role} value={role} label={label} description={may} />
				))}
			</Stack>
		</Radio.Group>
	);
}
