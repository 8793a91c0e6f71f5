import { Button, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { limitsInWords } from "../../parts/membership-limits.tsx";
import { ROLES } from "../../parts/roles.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { InviteMember } from "./invite-member.tsx";

type Invitation = OutputOf<"listInvitations">["invitations"][number];

/** Number of invitations that are shown at first, and that each click adds. */
const MORE = 50;

/** Lists open invitations. Renders nothing if there are none. */
export function Invitations() {
	const { organizationId } = useOrganization();
	const [revoking, setRevoking] = useState<Invitation | null>(null);
	const [shown, setShown] = useState(MORE);
	const [inviting, setInviting] = useState<Invitation | null>(null);
	const open = useQuery(
		operationQuery("listInvitations", { organization_id: organizationId }),
	);
	if (open.isError) {
		return <ErrorState error={open.error} onRetry={open.refetch} />;
	}
	const invitations = open.data?.invitations ?? [];
	if (invitations.length === 0) return null;
	const columns: Column<Invitation>[] = [
		{
			id: "email",
			header: "Invited",
			cell: ({ email }) => (
				<Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
					{email}
				</Text>
			),
		},
		{
			id: "role",
			header: "Role",
			cell: (invitation) => (
				<>
					<Text size="sm">{ROLES[invitation.role].label}</Text>
					<Text size="xs" c="dimmed">
						{limitsInWords(invitation)}
					</Text>
				</>
			),
		},
		{
			id: "by",
			header: "By",
			cell: ({ invited_by, created_at }) => (
				<>
					<Text size="sm">{invited_by}</Text>
					<Text size="xs" c="dimmed">
						<RelativeTime value={created_at} />
					</Text>
				</>
			),
		},
		{
			id: "expires",
			header: "Expires",
			cell: ({ is_expired, expires_at }) =>
				is_expired ? (
					<StatusBadge tone="warning" label="Expired" />
				) : (
					<DateTime value={expires_at} />
				),
		},
		{
			id: "actions",
			header: "Actions",
			align: "right",
			width: 200,
			cell: (invitation) => (
				<Group gap="xs" justify="flex-end" wrap="nowrap">
					<Button
						size="compact-sm"
						variant="default"
						onClick={() => setInviting(invitation)}
						aria-label={`New link for ${invitation.email}`}
					>
						New link
					</Button>
					<Button
						size="compact-sm"
						variant="default"
						onClick={() => setRevoking(invitation)}
						aria-label={`Revoke the invitation of ${invitation.email}`}
					>
						Revoke
					</Button>
				</Group>
			),
		},
	];
	return (
		<section aria-label="Open invitations">
			<Title order={2} mt="xl" mb="sm">
				Open invitations
			</Title>
			<DataTable
				label="Open invitations"
				columns={columns}
				rows={invitations.slice(0, shown)}
			/>
			{invitations.length > shown && (
				<Button
					variant="default"
					mt="sm"
					onClick={() => setShown(shown + MORE)}
				>
					Show more ({invitations.length - shown} are left)
				</Button>
			)}
			{inviting && (
				<InviteMember again={inviting} onClose={() => setInviting(null)} />
			)}
			<Confirm
				opened={revoking !== null}
				onClose={() => setRevoking(null)}
				title={`Revoke the invitation of ${revoking?.email ?? ""}?`}
				action="Revoke the invitation"
				onConfirm={async () => {
					if (!revoking) return;
					await call("revokeInvitation", {
						organization_id: organizationId,
						id: revoking.id,
					});
					await forgetReadings();
				}}
			>
				Its link stops working at once.
			</Confirm>
		</section>
	);
}
