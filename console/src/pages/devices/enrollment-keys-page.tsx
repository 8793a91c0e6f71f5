import { Button, Progress, Text } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type InputOf, type OutputOf } from "../../api.ts";
import { useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { ListError, Pager } from "../../parts/pager.tsx";
import { StatusBadge, type Tone } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { CreateEnrollmentKey } from "./create-enrollment-key.tsx";
import { ToDevices } from "./to-devices.tsx";

type EnrollmentKey = OutputOf<"listEnrollmentKeys">["enrollment_keys"][number];

const STATES: Record<EnrollmentKey["state"], { label: string; tone: Tone }> = {
	OPEN: { label: "Open", tone: "good" },
	RUNNING_OUT: { label: "Runs out soon", tone: "warning" },
	USED_UP: { label: "Used up", tone: "neutral" },
	EXPIRED: { label: "Expired", tone: "neutral" },
	REVOKED: { label: "Revoked", tone: "neutral" },
};

/** Lists the enrollment keys. Administrators make and revoke them. */
export function Page() {
	const { organizationId, mayAdmin } = useOrganization();
	const list = useListSearch();
	const [isMaking, setMaking] = useState(false);
	const [revoking, setRevoking] = useState<EnrollmentKey | null>(null);
	const keys = useQuery({
		...operationQuery("listEnrollmentKeys", {
			organization_id: organizationId,
			...list.input,
		} as InputOf<"listEnrollmentKeys">),
		placeholderData: keepPreviousData,
		refetchInterval: 10_000,
		enabled: mayAdmin,
	});
	if (!mayAdmin) {
		return (
			<>
				<PageHeader title="Enrollment keys" parent={<ToDevices />} />
				<EmptyState title="Only administrators see enrollment keys">
					Ask an administrator of your organization for a key.
				</EmptyState>
			</>
		);
	}
	const make = (
		<Button
			leftSection={<IconPlus size={16} aria-hidden />}
			onClick={() => setMaking(true)}
		>
			Make a key
		</Button>
	);
	const rows = keys.data?.enrollment_keys ?? [];
	const isEmpty = keys.isSuccess && rows.length === 0 && !list.search.cursor;
	return (
		<>
			<PageHeader
				parent={<ToDevices />}
				title="Enrollment keys"
				isWide
				description="A key enrolls many devices, for a rollout by Intune, Jamf, Ansible or Group Policy."
				actions={!isEmpty && make}
			/>
			{keys.isPending && <RowsSkeleton />}
			{keys.isError && (
				<ListError error={keys.error} onRetry={keys.refetch} list={list} />
			)}
			{isEmpty && (
				<EmptyState
					title="No enrollment keys yet"
					icon={<IconKey size={32} aria-hidden />}
					actions={make}
				>
					A key gives nothing but the right to enroll. It ends on a day that you
					choose, and after a number of devices that you choose.
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label="Enrollment keys"
					columns={columnsOf(setRevoking)}
					rows={rows}
					list={list}
					isStale={keys.isPlaceholderData}
				/>
			)}
			{keys.isSuccess && rows.length > 0 && (
				<Pager list={list} page={keys.data} shown={rows.length} />
			)}
			{isMaking && <CreateEnrollmentKey onClose={() => setMaking(false)} />}
			<Confirm
				opened={revoking !== null}
				onClose={() => setRevoking(null)}
				title={`Revoke the key “${revoking?.name}”?`}
				action="Revoke the key"
				onConfirm={async () => {
					if (revoking) await call("revokeEnrollmentKey", { id: revoking.id });
					await forgetReadings();
				}}
			>
				No further device can enroll with it. This cannot be undone. The devices
				that have enrolled keep working.
			</Confirm>
		</>
	);
}

const columnsOf = (
	revoke: (key: EnrollmentKey) => void,
): readonly Column<EnrollmentKey>[] => [
	{
		id: "name",
		header: "Key",
		sort: "name",
		width: 220,
		cell: (key) => (
			<>
				<TextLink
					to="/o/$org/devices"
					params={{ org: key.organization_id }}
					search={{ enrollment_key_id: key.id }}
					size="sm"
					fw={500}
					style={{ overflowWrap: "anywhere" }}
				>
					{key.name}
				</TextLink>
				<Text size="xs" c="dimmed">
					Made {key.created_by && `by ${key.created_by} `}
					<RelativeTime value={key.created_at} />
				</Text>
			</>
		),
	},
	{
		id: "state",
		header: "Status",
		width: 130,
		cell: ({ state }) => <StatusBadge {...STATES[state]} />,
	},
	{
		id: "used",
		header: "Devices",
		width: 200,
		cell: (key) => <Used enrollmentKey={key} />,
	},
	{
		id: "group",
		header: "Group",
		width: 150,
		cell: ({ organization_id, group_id, group_name }) =>
			group_id ? (
				<TextLink
					to="/o/$org/devices"
					params={{ org: organization_id }}
					search={{ group_id }}
					size="sm"
					style={{ overflowWrap: "anywhere" }}
				>
					{group_name}
				</TextLink>
			) : (
				<Text size="sm" c="dimmed">
					None
				</Text>
			),
	},
	{
		id: "approval",
		header: "Approval",
		width: 120,
		cell: ({ requires_approval }) => (
			<Text size="sm">{requires_approval ? "Required" : "Not required"}</Text>
		),
	},
	{
		id: "expires",
		header: "Expires",
		width: 150,
		cell: ({ expires_at }) => <DateTime value={expires_at} />,
	},
	{
		id: "actions",
		header: "Actions",
		align: "right",
		width: 100,
		cell: (key) =>
			key.state !== "REVOKED" && (
				<Button
					size="compact-sm"
					variant="default"
					onClick={() => revoke(key)}
					aria-label={`Revoke ${key.name}`}
				>
					Revoke …
				</Button>
			),
	},
];

/** Says how many devices have enrolled, and links to those that wait for approval. */
function Used({ enrollmentKey: key }: { enrollmentKey: EnrollmentKey }) {
	return (
		<>
			<Text size="sm">
				{key.used.toLocaleString()} of {key.max_devices.toLocaleString()}
				{key.waiting > 0 && (
					<>
						,{" "}
						<TextLink
							to="/o/$org/devices"
							params={{ org: key.organization_id }}
							search={{ enrollment_key_id: key.id, awaits_approval: true }}
							inherit
						>
							{key.waiting.toLocaleString()} waiting for approval
						</TextLink>
					</>
				)}
			</Text>
			<Progress
				value={(100 * key.used) / key.max_devices}
				size="sm"
				aria-label={`Devices enrolled with ${key.name}`}
			/>
		</>
	);
}
