import {
	Button,
	Group,
	Paper,
	Select,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyField } from "../../parts/copy-field.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { StatusBadge, type Tone } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { CreateScimCredential } from "./create-scim-credential.tsx";
import { ScimRequests } from "./scim-requests.tsx";

type Provisioning = OutputOf<"getProvisioning">;
type Credential = Provisioning["credentials"][number];
type ScimGroup = Provisioning["groups"][number];
type Role = Provisioning["default_role"];

const ROLES = [
	{ value: "viewer", label: "Viewer" },
	{ value: "member", label: "Member" },
	{ value: "admin", label: "Administrator" },
];
const NO_ROLE = { value: "", label: "No role of its own" };

const STATES: Record<Credential["status"], { tone: Tone; label: string }> = {
	ACTIVE: { tone: "good", label: "Active" },
	EXPIRED: { tone: "warning", label: "Expired" },
	REVOKED: { tone: "neutral", label: "Revoked" },
};

/** Manages how an identity provider makes members by SCIM. */
export function ProvisioningCard({
	organizationId: organization_id,
}: {
	organizationId: string;
}) {
	const [error, setError] = useState<Error | null>(null);
	const [isCreating, setCreating] = useState(false);
	const [revoking, setRevoking] = useState<Credential | null>(null);
	const { data } = useSuspenseQuery(
		operationQuery("getProvisioning", { organization_id }),
	);
	const save = async (work: () => Promise<unknown>) => {
		try {
			setError(null);
			await work();
		} catch (reason) {
			setError(reason as Error);
		}
		await forgetReadings();
	};
	const setGroupRole = ({ id }: ScimGroup, role: string | null) =>
		save(() =>
			call("updateScimGroup", {
				organization_id,
				id,
				role: (role || null) as Role | null,
			}),
		);
	return (
		<Paper
			withBorder
			p="md"
			component="section"
			aria-label="Provisioning (SCIM)"
		>
			<Title order={2} mb={4}>
				Provisioning (SCIM)
			</Title>
			<Text size="sm" c="dimmed" mb="md">
				Your identity provider adds members, and ends their memberships when
				they leave. Only users with an address in a verified domain are
				provisioned. {countOf(data.users)}
			</Text>
			<Stack>
				{error && <ErrorState error={error} title="Not saved" />}
				<CopyField label="Address for the provider" value={data.address} />
				<Group justify="space-between" align="flex-end">
					<Title order={3}>Credentials</Title>
					<Button variant="default" onClick={() => setCreating(true)}>
						Create a credential
					</Button>
				</Group>
				{data.credentials.length > 0 ? (
					<DataTable
						label="Credentials"
						columns={credentialColumns(setRevoking)}
						rows={data.credentials}
					/>
				) : (
					<Text size="sm">
						No credential yet. The provider needs one to reach this
						organization.
					</Text>
				)}
				<Title order={3}>Roles</Title>
				<Select
					label={FIELD_LABELS.organization.provisioned_role}
					description="It counts for members who come later, and for those whose groups change."
					allowDeselect={false}
					data={ROLES}
					maw={360}
					value={data.default_role}
					onChange={(role) =>
						save(() =>
							call("updateProvisioning", {
								organization_id,
								default_role: role as Role,
							}),
						)
					}
				/>
				{data.groups.length > 0 ? (
					<DataTable
						label="Groups"
						columns={groupColumns(setGroupRole)}
						rows={data.groups}
					/>
				) : (
					<Text size="sm">
						The provider has sent no groups. When it has, you choose here which
						role each group gives.
					</Text>
				)}
				<ScimRequests requests={data.requests} />
			</Stack>
			{isCreating && (
				<CreateScimCredential
					organizationId={organization_id}
					address={data.address}
					onClose={() => setCreating(false)}
				/>
			)}
			<Confirm
				opened={revoking !== null}
				onClose={() => setRevoking(null)}
				title="Revoke the credential?"
				action="Revoke the credential"
				onConfirm={async () => {
					if (!revoking) return;
					await call("revokeScimCredential", {
						organization_id,
						id: revoking.id,
					});
					await forgetReadings();
				}}
			>
				The next request with {revoking?.name} is rejected. Members stay. This
				cannot be undone.
			</Confirm>
		</Paper>
	);
}

function countOf(users: number): string {
	if (users === 0) return "Nobody is provisioned yet.";
	return users === 1
		? "One member is provisioned."
		: `${users.toLocaleString("en")} members are provisioned.`;
}

function credentialColumns(
	onRevoke: (credential: Credential) => void,
): Column<Credential>[] {
	return [
		{
			id: "name",
			header: "Name",
			cell: ({ name, created_by, created_at }) => (
				<>
					<Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
						{name}
					</Text>
					<Text size="xs" c="dimmed">
						By {created_by}, <RelativeTime value={created_at} />
					</Text>
				</>
			),
		},
		{
			id: "state",
			header: "Status",
			cell: ({ status, expires_at }) => (
				<>
					<StatusBadge {...STATES[status]} />
					{status === "ACTIVE" && (
						<Text size="xs" c="dimmed" mt={4}>
							Until <DateTime value={expires_at} />
						</Text>
					)}
				</>
			),
		},
		{
			id: "used",
			header: "Last used",
			cell: ({ last_used_at, last_used_address }) =>
				last_used_at ? (
					<>
						<RelativeTime value={last_used_at} />
						<Text size="xs" c="dimmed">
							{last_used_address}
						</Text>
					</>
				) : (
					"Never"
				),
		},
		{
			id: "actions",
			header: "Actions",
			align: "right",
			width: 110,
			cell: (row) =>
				row.status === "ACTIVE" && (
					<Button
						size="compact-sm"
						variant="default"
						onClick={() => onRevoke(row)}
						aria-label={`Revoke ${row.name}`}
					>
						Revoke
					</Button>
				),
		},
	];
}

function groupColumns(
	onChange: (group: ScimGroup, role: string | null) => void,
): Column<ScimGroup>[] {
	return [
		{
			id: "group",
			header: "Group",
			cell: ({ display_name }) => (
				<Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
					{display_name}
				</Text>
			),
		},
		{
			id: "members",
			header: "Members",
			align: "right",
			width: 110,
			cell: ({ members }) => members.toLocaleString("en"),
		},
		{
			id: "role",
			header: "Role",
			width: 220,
			cell: (group) => (
				<Select
					aria-label={`Role of ${group.display_name}`}
					allowDeselect={false}
					data={[NO_ROLE, ...ROLES]}
					value={group.role ?? ""}
					onChange={(role) => onChange(group, role)}
				/>
			),
		},
	];
}
