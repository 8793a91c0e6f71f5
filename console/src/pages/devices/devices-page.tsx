import { Button } from "@mantine/core";
import {
	IconDeviceLaptop,
	IconFolders,
	IconKey,
	IconPlus,
	IconShieldOff,
} from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { InputOf } from "../../api.ts";
import { type FilterValue, useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { ColumnMenu, shownColumns } from "../../parts/column-menu.tsx";
import { DataTable } from "../../parts/data-table.tsx";
import { type Device, deviceName } from "../../parts/devices/device-words.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { ListError, Pager } from "../../parts/pager.tsx";
import { ExportButton } from "../../parts/records/export-button.tsx";
import { useRecordNames } from "../../parts/records/record-names.ts";
import { useSelection } from "../../parts/selection.ts";
import { operationQuery } from "../../queries.ts";
import { columnsOfCheck } from "./check-columns.tsx";
import { checkOf } from "./checks.ts";
import { columnsWith } from "./device-columns.tsx";
import { DeviceFilters } from "./device-filters.tsx";
import { FleetCounts, FleetSummary } from "./fleet-summary.tsx";
import { GroupForm } from "./group-form.tsx";
import { SelectedDevices } from "./selected-devices.tsx";

export function Page() {
	const { organizationId, mayWrite, mayAdmin } = useOrganization();
	const [isSaving, setSaving] = useState(false);
	const list = useListSearch();
	const selection = useSelection<Device>(
		JSON.stringify([organizationId, list.input.filter]),
		deviceName,
	);
	const { cursor: _, size: __, ...asListed } = list.input;
	const exported = { organization_id: organizationId, ...asListed };
	const devices = useQuery({
		...operationQuery("listDevices", {
			organization_id: organizationId,
			...list.input,
		} as InputOf<"listDevices">),
		placeholderData: keepPreviousData,
		refetchInterval: 30_000,
	});
	// A large fleet takes seconds to count, so the list comes first.
	const isListed = !devices.isPending;
	const rows = devices.data?.devices ?? [];
	const names = useRecordNames(
		organizationId,
		rows.flatMap(({ owner_id }) => owner_id ?? []),
	);
	const isEmpty = devices.isSuccess && rows.length === 0 && !list.search.cursor;
	const hasNone = isEmpty && !list.hasFilters;
	const add = mayAdmin && (
		<ButtonLink
			to="/o/$org/devices/new"
			params={{ org: organizationId }}
			leftSection={<IconPlus size={16} aria-hidden />}
		>
			Add device
		</ButtonLink>
	);
	const check = checkOf(list.filters);
	const possible = check ? columnsOfCheck(check, names) : columnsWith(names);
	const usual = possible.filter(({ isExtra }) => !isExtra).map(({ id }) => id);
	const shown = shownColumns(list, possible, usual);
	return (
		<>
			<PageHeader
				title="Devices"
				description={
					hasNone ? (
						"Laptops and servers, and their security posture."
					) : (
						<FleetCounts isReady={isListed} />
					)
				}
				actions={
					<>
						{mayAdmin && (
							<ButtonLink
								to="/o/$org/devices/enrollment-keys"
								params={{ org: organizationId }}
								variant="default"
								leftSection={<IconKey size={16} aria-hidden />}
							>
								Enrollment keys
							</ButtonLink>
						)}
						<ButtonLink
							to="/o/$org/devices/groups"
							params={{ org: organizationId }}
							variant="default"
							leftSection={<IconFolders size={16} aria-hidden />}
						>
							Groups
						</ButtonLink>
						<ButtonLink
							to="/o/$org/devices/exceptions"
							params={{ org: organizationId }}
							variant="default"
							leftSection={<IconShieldOff size={16} aria-hidden />}
						>
							Exceptions
						</ButtonLink>
						<ExportButton operation="listDevices" input={exported} />
						{add}
					</>
				}
			/>
			{!hasNone && (
				<>
					<FleetSummary isReady={isListed} />
					<FilterBar list={list} label="Search devices">
						<DeviceFilters list={list} isReady={isListed} />
						<ColumnMenu
							list={list}
							possible={possible.map(({ id, header }) => ({
								id,
								label: header,
							}))}
							shown={shown}
						/>
					</FilterBar>
					{mayWrite && canBeGroup(list.filters, list.search.q) && (
						<Button
							size="xs"
							variant="default"
							mb="sm"
							onClick={() => setSaving(true)}
						>
							Save the filter as a group …
						</Button>
					)}
					{isSaving && (
						<GroupForm filter={list.filters} onClose={() => setSaving(false)} />
					)}
				</>
			)}
			{devices.isPending && <RowsSkeleton />}
			{devices.isError && (
				<ListError
					error={devices.error}
					onRetry={devices.refetch}
					list={list}
				/>
			)}
			{hasNone && (
				<EmptyState
					title="No devices yet"
					icon={<IconDeviceLaptop size={32} aria-hidden />}
					actions={add}
				>
					{mayAdmin
						? "Add a device to get a token. The agent on the device enrolls with it and then reports."
						: "An administrator of your organization can add devices."}
				</EmptyState>
			)}
			{isEmpty && !hasNone && (
				<EmptyState
					title="No device matches"
					actions={
						<Button variant="default" onClick={() => list.clearFilters()}>
							Show all devices
						</Button>
					}
				>
					Remove a filter or search for other words.
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label="Devices"
					columns={shown.flatMap(
						(id) => possible.find((one) => one.id === id) ?? [],
					)}
					rows={rows}
					list={list}
					isStale={devices.isPlaceholderData}
					selection={mayWrite ? selection : undefined}
				/>
			)}
			<SelectedDevices
				organizationId={organizationId}
				selection={selection}
				mayAdmin={mayAdmin}
			/>
			{devices.isSuccess && rows.length > 0 && (
				<Pager list={list} page={devices.data} shown={rows.length} />
			)}
		</>
	);
}

/** A group may have every filter of the list, but no search words and no other group. */
function canBeGroup(
	filters: Record<string, FilterValue>,
	words: string | undefined,
): boolean {
	return (
		!words && Object.keys(filters).length > 0 && filters.group_id === undefined
	);
}
