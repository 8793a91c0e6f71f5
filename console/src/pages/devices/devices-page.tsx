import { Box, Menu } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import {
	IconDeviceLaptop,
	IconFileUpload,
	IconFolderPlus,
	IconFolders,
	IconKey,
	IconPlus,
	IconShieldOff,
} from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import { call, type InputOf } from "../../api.ts";
import { useListSearch } from "../../list-search.ts";
import { NARROW } from "../../narrow-screens.ts";
import { useOrganization } from "../../organization.ts";
import { shownColumns } from "../../parts/column-menu.tsx";
import {
	type Device,
	deviceName,
	deviceNames,
} from "../../parts/devices/device-words.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ButtonLink, MenuLink } from "../../parts/links.tsx";
import { ListPage } from "../../parts/list-page.tsx";
import { ExportButton } from "../../parts/records/export-button.tsx";
import { ME } from "../../parts/records/reference-picker.tsx";
import { useSelection } from "../../parts/selection.ts";
import { operationQuery } from "../../queries.ts";
import { NEWEST } from "../../register-orders.ts";
import type { FilterValue } from "../../relative-filters.ts";
import { columnsOfCheck } from "./check-columns.tsx";
import { checkOf } from "./checks.ts";
import { columnsWith } from "./device-columns.tsx";
import { DeviceFilters } from "./device-filters.tsx";
import { FleetCounts, FleetSummary } from "./fleet-summary.tsx";
import { GroupForm } from "./group-form.tsx";
import { GroupPolicyLink } from "./group-policy-link.tsx";
import { ImportOwners } from "./import-owners.tsx";
import { heldInPast, PresentOnly } from "./present-only.tsx";
import { SelectedDevices } from "./selected-devices.tsx";

/** Lists the devices, with search, filters, groups, selection, and the CSV export. */
export function Page() {
	const { organizationId, mayWrite, mayAdmin, day } = useOrganization();
	const [isSaving, setSaving] = useState(false);
	const [isImporting, setImporting] = useState(false);
	const asked = useListSearch(() => NEWEST);
	const past = day === undefined ? undefined : heldInPast(asked);
	const list = past?.list ?? asked;
	const isNarrow = useMediaQuery(NARROW);
	const { cursor: _, size: __, ...asListed } = list.input;
	const exported = { organization_id: organizationId, ...asListed };
	const devices = useQuery({
		...operationQuery("listDevices", {
			organization_id: organizationId,
			...list.input,
		} as InputOf<"listDevices">),
		placeholderData: keepPreviousData,
		refetchInterval: day ? false : 30_000,
	});
	// A large fleet takes seconds to count, so the list comes first.
	const isListed = !devices.isPending;
	const [rows, nameOf] = useMemo(() => {
		const rows = (devices.data?.devices ?? []).map((device) =>
			day || isOfPast(device) ? asThen(device) : device,
		);
		const apart = deviceNames(rows);
		return [rows, (one: Device) => apart.get(one.id) ?? deviceName(one)];
	}, [devices.data, day]);
	const selection = useSelection<Device>(
		JSON.stringify([organizationId, list.input.filter]),
		nameOf,
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
	const ofOwner = ownerIn(list.filters, rows);
	// The same columns as before, so that rows which did not change need not render again.
	const { filters } = list;
	const possible = useMemo(() => {
		const check = checkOf(filters);
		return (
			check
				? columnsOfCheck(check, nameOf, "failing_check" in filters && !day)
				: columnsWith(nameOf)
		).filter(({ id }) => !day || id !== "seen");
	}, [filters, nameOf, day]);
	const columns = useMemo(() => {
		const usual = possible.filter(({ isExtra }) => !isExtra);
		const shown = shownColumns(
			list,
			possible,
			usual.map(({ id }) => id),
		);
		return shown.flatMap((id) => possible.find((one) => one.id === id) ?? []);
	}, [list, possible]);
	return (
		<ListPage
			kind="device"
			list={list}
			title="Devices"
			nouns="devices"
			page={devices}
			rows={rows}
			columns={columns}
			possible={possible.map(({ id, header }) => ({ id, label: header }))}
			selection={mayWrite ? selection : undefined}
			description={
				hasNone && "Laptops and servers, and their security posture."
			}
			exportButton={<ExportButton operation="listDevices" input={exported} />}
			more={
				<>
					{mayAdmin && (
						<MenuLink
							to="/o/$org/devices/enrollment-keys"
							params={{ org: organizationId }}
							leftSection={<IconKey size={16} aria-hidden />}
						>
							Enrollment keys
						</MenuLink>
					)}
					<MenuLink
						to="/o/$org/devices/groups"
						params={{ org: organizationId }}
						leftSection={<IconFolders size={16} aria-hidden />}
					>
						Groups
					</MenuLink>
					<MenuLink
						to="/o/$org/devices/exceptions"
						params={{ org: organizationId }}
						leftSection={<IconShieldOff size={16} aria-hidden />}
					>
						Exceptions
					</MenuLink>
					{mayWrite && (
						<Menu.Item
							leftSection={<IconFileUpload size={16} aria-hidden />}
							onClick={() => setImporting(true)}
						>
							Import owners …
						</Menu.Item>
					)}
					{mayWrite && canBeGroup(list.filters, list.search.q) && (
						<Menu.Item
							leftSection={<IconFolderPlus size={16} aria-hidden />}
							onClick={() => setSaving(true)}
						>
							Save the filter as a group …
						</Menu.Item>
					)}
				</>
			}
			add={add}
			above={
				<>
					{/* The least height keeps the list in its place when the filters change. */}
					<Box mt={{ base: -8, sm: -16 }} mb={6} mih={24} fz="sm" c="dimmed">
						{ofOwner ? (
							<>
								{ofOwner}
								{!isNarrow &&
									" The pass rates below are those of all devices of the organization."}
							</>
						) : (
							<FleetCounts isReady={isListed} list={list} />
						)}
						{typeof list.filters.group_id === "string" && !day && (
							<>
								{" "}
								<GroupPolicyLink groupId={list.filters.group_id} />
							</>
						)}
					</Box>
					{!(ofOwner && isNarrow) && <FleetSummary isReady={isListed} />}
				</>
			}
			filters={<DeviceFilters list={list} isReady={isListed} />}
			below={
				<>
					{past && <PresentOnly {...past} />}
					{isImporting && (
						<ImportOwners
							organizationId={organizationId}
							onClose={() => setImporting(false)}
						/>
					)}
					{isSaving && (
						<GroupForm filter={list.filters} onClose={() => setSaving(false)} />
					)}
				</>
			}
			bulk={
				<SelectedDevices
					organizationId={organizationId}
					selection={selection}
					matching={
						devices.data && {
							total: devices.data.total,
							isExact: devices.data.total_is_exact,
							shown: devices.data.devices,
							read: async (cursor) => {
								const { filter } = list.input;
								const { devices: rows, next_cursor } = await call(
									"listDevices",
									{
										organization_id: organizationId,
										...(filter && { filter }),
										...(cursor && { cursor }),
										size: MAX_PAGE_SIZE,
									} as InputOf<"listDevices">,
								);
								return { rows, next_cursor };
							},
						}
					}
					mayAdmin={mayAdmin}
				/>
			}
			nothing={
				<EmptyState
					title="No devices yet"
					icon={<IconDeviceLaptop size={32} aria-hidden />}
					actions={add}
				>
					{mayAdmin
						? "Add a device to get a token. The agent on the device enrolls with it and then reports."
						: "An administrator of your organization can add devices."}
				</EmptyState>
			}
		/>
	);
}

/**
 * Returns what the list shows if it is filtered by an owner. The counts of the fleet are then left
 * out, because a reader could take them for those of the owner.
 */
function ownerIn(
	{ owner_id: id, owner }: Record<string, FilterValue>,
	rows: readonly Device[],
): string | undefined {
	if (owner === ME) return "Your devices.";
	if (id === null) return "Devices without an owner.";
	if (typeof id !== "string") return undefined;
	const [first] = rows;
	return `Devices of ${first?.owner_name ?? "one person"}.`;
}

/** Rows of the past stay on the screen until those of the present have arrived. */
const isOfPast = (device: Device) => !("conflicts" in device);

/**
 * Fills in what is known only for the present. Of the past, the list says whether the device had
 * gone silent.
 */
function asThen(device: Device): Device {
	const { is_stale } = device as { is_stale?: boolean };
	return {
		...device,
		freshness: "ONLINE",
		reporting: is_stale ? "NOT_REPORTING" : "REPORTING",
		conflicts: [],
		awaits_approval: false,
		last_seen_at: null,
	};
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
