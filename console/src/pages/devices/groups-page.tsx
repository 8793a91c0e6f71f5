import { Button, Group, Text } from "@mantine/core";
import { IconFolders, IconPlus } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type InputOf } from "../../api.ts";
import { useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import type { DeviceGroup } from "../../parts/devices/device-groups.ts";
import { POLICIES } from "../../parts/devices/device-groups.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { ListError, Pager } from "../../parts/pager.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { GroupForm } from "./group-form.tsx";
import { ToDevices } from "./to-devices.tsx";

/** Lists the groups of devices. Members make and change them, administrators delete them. */
export function Page() {
	const { organizationId, mayWrite, mayAdmin } = useOrganization();
	const list = useListSearch();
	const [edited, setEdited] = useState<DeviceGroup | "new" | null>(null);
	const [deleted, setDeleted] = useState<DeviceGroup | null>(null);
	const groups = useQuery({
		...operationQuery("listDeviceGroups", {
			organization_id: organizationId,
			...list.input,
		} as InputOf<"listDeviceGroups">),
		placeholderData: keepPreviousData,
	});
	const policies =
		useQuery(
			operationQuery("listDeviceGroupPolicies", {
				organization_id: organizationId,
			}),
		).data?.group_policies ?? [];
	const hasPolicy = (group: DeviceGroup | null) =>
		policies.some(({ group_id }) => group_id === group?.id);
	const rows = groups.data?.device_groups ?? [];
	const isEmpty = groups.isSuccess && rows.length === 0 && !list.search.cursor;
	const add = mayWrite && (
		<Button
			leftSection={<IconPlus size={16} aria-hidden />}
			onClick={() => setEdited("new")}
		>
			Add group
		</Button>
	);
	return (
		<>
			<PageHeader
				title="Groups of devices"
				isWide
				parent={<ToDevices />}
				description="A group lists its devices, or has a filter and contains the devices that match."
				actions={
					<>
						<ButtonLink
							to="/o/$org/settings/device-policy"
							params={{ org: organizationId }}
							hash={POLICIES}
							variant="default"
						>
							Policies of groups
						</ButtonLink>
						{!isEmpty && add}
					</>
				}
			/>
			{groups.isPending && <RowsSkeleton />}
			{groups.isError && (
				<ListError error={groups.error} onRetry={groups.refetch} list={list} />
			)}
			{isEmpty && (
				<EmptyState
					title="No groups yet"
					icon={<IconFolders size={32} aria-hidden />}
					actions={add}
				>
					{mayWrite
						? "Select devices in the list to add them to a group, or filter the list and save the filter as a group."
						: "Members of your organization can make groups."}
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label="Groups of devices"
					columns={columnsOf({
						placeOf: ({ id }) =>
							policies.find(({ group_id }) => group_id === id)?.priority,
						mayGivePolicy: mayAdmin,
						edit: mayWrite ? setEdited : undefined,
						remove: mayAdmin ? setDeleted : undefined,
					})}
					rows={rows}
					list={list}
					isStale={groups.isPlaceholderData}
				/>
			)}
			{groups.isSuccess && rows.length > 0 && (
				<Pager list={list} page={groups.data} shown={rows.length} />
			)}
			{edited && (
				<GroupForm
					group={edited === "new" ? undefined : edited}
					onClose={() => setEdited(null)}
				/>
			)}
			<Confirm
				opened={deleted !== null}
				onClose={() => setDeleted(null)}
				title={`Delete the group “${deleted?.name}”?`}
				action="Delete the group"
				onConfirm={async () => {
					if (deleted) await call("deleteDeviceGroup", { id: deleted.id });
					await forgetReadings();
				}}
			>
				The devices stay. Revoke the open enrollment keys of the group first.{" "}
				{hasPolicy(deleted) && LOSES_POLICY} This cannot be undone.
			</Confirm>
		</>
	);
}

const LOSES_POLICY =
	"The group's device policy is removed with it, so its devices get another one.";

const columnsOf = (actions: {
	/** Returns the place of the group's device policy, if it has one. */
	placeOf: (group: DeviceGroup) => number | undefined;
	mayGivePolicy: boolean;
	edit: ((group: DeviceGroup) => void) | undefined;
	remove: ((group: DeviceGroup) => void) | undefined;
}): readonly Column<DeviceGroup>[] => [
	{
		id: "name",
		header: "Group",
		sort: "name",
		width: 280,
		cell: (group) => (
			<>
				<TextLink
					to="/o/$org/devices"
					params={{ org: group.organization_id }}
					search={{ group_id: group.id }}
					size="sm"
					fw={500}
					style={{ overflowWrap: "anywhere" }}
				>
					{group.name}
				</TextLink>
				{group.description && (
					<Text size="xs" c="dimmed" lineClamp={2}>
						{group.description}
					</Text>
				)}
			</>
		),
	},
	{
		id: "kind",
		header: "Devices",
		width: 160,
		cell: ({ id, organization_id, device_count, filter }) => (
			<>
				<TextLink
					to="/o/$org/devices"
					params={{ org: organization_id }}
					search={{ group_id: id }}
					size="sm"
				>
					{device_count === 1
						? "1 device"
						: `${device_count.toLocaleString()} devices`}
				</TextLink>
				<Text size="xs" c="dimmed">
					{filter ? "by a filter" : "listed"}
				</Text>
			</>
		),
	},
	{
		id: "policy",
		header: "Device policy",
		width: 150,
		cell: (group) => {
			const place = actions.placeOf(group);
			const toPolicy = {
				to: "/o/$org/settings/device-policy",
				params: { org: group.organization_id },
				search: { group: group.id },
			} as const;
			if (place !== undefined) {
				return (
					<TextLink {...toPolicy} size="sm">
						Its own, order {place}
					</TextLink>
				);
			}
			return (
				<>
					<Text size="sm">The organization's</Text>
					{actions.mayGivePolicy && (
						<TextLink {...toPolicy} size="xs">
							Give it a policy …
						</TextLink>
					)}
				</>
			);
		},
	},
	{
		id: "updated",
		header: "Changed",
		width: 140,
		cell: ({ updated_at }) => <RelativeTime value={updated_at} />,
	},
	{
		id: "actions",
		header: "Actions",
		align: "right",
		width: 180,
		cell: (group) => (
			<Group gap="xs" justify="flex-end" wrap="nowrap">
				{actions.edit && (
					<Button
						size="compact-sm"
						variant="default"
						onClick={() => actions.edit?.(group)}
						aria-label={`Edit ${group.name}`}
					>
						Edit
					</Button>
				)}
				{actions.remove && (
					<Button
						size="compact-sm"
						variant="default"
						onClick={() => actions.remove?.(group)}
						aria-label={`Delete ${group.name}`}
					>
						Delete …
					</Button>
				)}
			</Group>
		),
	},
];
