import { Button, Group, Pill, Select, Text } from "@mantine/core";
import {
	IconAlertTriangleFilled,
	IconDeviceLaptop,
	IconPlus,
} from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { InputOf } from "../../api.ts";
import { type ListControls, useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable, Pager } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { ExportButton } from "../registers/export-button.tsx";
import { type Names, useRecordNames } from "../registers/record-names.ts";
import { NONE, ReferencePicker } from "../registers/reference-picker.tsx";
import { checkLabel, inOrder } from "./checks.ts";
import {
	conflictLabel,
	type Device,
	DeviceState,
	deviceName,
	FRESHNESS,
	isCurrent,
	PLATFORMS,
	platformLabel,
	STATUSES,
} from "./device-words.tsx";
import { FleetSummary, summaryQuery } from "./fleet-summary.tsx";

export function Page() {
	const { organizationId, mayAdmin } = useOrganization();
	const list = useListSearch();
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
	return (
		<>
			<PageHeader
				title="Devices"
				description="Laptops and servers, and what their agents say of how they are kept."
				actions={
					<>
						<ExportButton operation="listDevices" input={exported} />
						{add}
					</>
				}
			/>
			{!hasNone && (
				<>
					<FleetSummary />
					<FilterBar list={list} label="Search devices">
						<Filters list={list} />
					</FilterBar>
				</>
			)}
			{devices.isPending && <RowsSkeleton />}
			{devices.isError && (
				<ErrorState error={devices.error} onRetry={devices.refetch} />
			)}
			{hasNone && (
				<EmptyState
					title="No devices yet"
					icon={<IconDeviceLaptop size={32} aria-hidden />}
					actions={add}
				>
					{mayAdmin
						? "Add a device to get a token; the agent on the device enrolls itself with it and reports from then on."
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
					Take a filter away, or search for other words.
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label="Devices"
					columns={columnsWith(names)}
					rows={rows}
					list={list}
					isStale={devices.isPlaceholderData}
				/>
			)}
			<Pager list={list} nextCursor={devices.data?.next_cursor ?? null} />
		</>
	);
}

const columnsWith = (names: Names): readonly Column<Device>[] => [
	{
		id: "name",
		header: "Device",
		sort: "name",
		cell: (device) => <Name device={device} />,
	},
	{
		id: "state",
		header: "State",
		width: 130,
		cell: (device) => <DeviceState device={device} />,
	},
	{
		id: "checks",
		header: "Checks",
		cell: (device) => <Checks device={device} />,
	},
	{
		id: "owner",
		header: "Owner",
		width: 160,
		cell: ({ owner_id }) =>
			owner_id ? (
				<Text size="sm">{names.get(owner_id) ?? "…"}</Text>
			) : (
				<Text size="sm" c="dimmed">
					Nobody
				</Text>
			),
	},
	{
		id: "platform",
		header: "Platform",
		width: 150,
		cell: ({ platform, os_version }) => (
			<>
				<Text size="sm">{platform ? platformLabel(platform) : "–"}</Text>
				<Text size="xs" c="dimmed" lineClamp={1}>
					{os_version}
				</Text>
			</>
		),
	},
	{
		id: "seen",
		header: "Last seen",
		width: 140,
		sort: "last_seen_at",
		firstDirection: "desc",
		cell: ({ last_seen_at }) => <RelativeTime value={last_seen_at} />,
	},
];

function Name({ device }: { device: Device }) {
	const name = deviceName(device);
	return (
		<>
			<TextLink
				to="/o/$org/devices/$id"
				params={{ org: device.organization_id, id: device.id }}
				className="data-table-link"
				size="sm"
				fw={500}
			>
				{name}
			</TextLink>
			{device.hostname && device.hostname !== name && (
				<Text size="xs" c="dimmed" lineClamp={1}>
					{device.hostname}
				</Text>
			)}
			{device.conflicts.map((kind) => (
				<Group key={kind} gap={4} wrap="nowrap" c="orange.9">
					<IconAlertTriangleFilled size={12} aria-hidden />
					<Text size="xs" c="var(--mantine-color-text)">
						{conflictLabel(kind)}
					</Text>
				</Group>
			))}
		</>
	);
}

/** What is wrong in a few words; of a silent device only as known last. */
function Checks({ device }: { device: Device }) {
	const { postures } = device;
	if (postures.length === 0) {
		return (
			<Text size="sm" c="dimmed">
				No reports
			</Text>
		);
	}
	const of = (status: string) =>
		postures.filter((posture) => posture.status === status);
	const failing = of("FAIL");
	const unknown = of("UNKNOWN");
	const words =
		failing.length > 0
			? `${failing.length} failing`
			: unknown.length > 0
				? `${unknown.length} unknown`
				: `${of("PASS").length} pass`;
	const tone =
		failing.length > 0 ? "bad" : unknown.length > 0 ? "warning" : "good";
	const names = inOrder(failing.map(({ check_key }) => check_key))
		.filter((key) => failing.some(({ check_key }) => check_key === key))
		.map(checkLabel);
	const shown = names.slice(0, 2);
	const more = failing.length - shown.length;
	return (
		<>
			{isCurrent(device) ? (
				<StatusBadge tone={tone} label={words} />
			) : (
				<StatusBadge tone="neutral" label={`Last known: ${words}`} />
			)}
			{shown.length > 0 && (
				<Text size="xs" c="dimmed" lineClamp={2} mt={2}>
					{shown.join(", ")}
					{more > 0 && ` and ${more} more`}
				</Text>
			)}
		</>
	);
}

function Filters({ list }: { list: ListControls }) {
	const { organizationId } = useOrganization();
	const summary = useQuery(summaryQuery(organizationId));
	const { filters } = list;
	const check = filters.failing_check as string | undefined;
	const checks = new Set(
		summary.data?.checks.map(({ check_key }) => check_key) ?? [],
	);
	if (check) checks.add(check);
	const choice = (
		name: string,
		label: string,
		data: { value: string; label: string }[],
		width: number,
	) => (
		<Select
			aria-label={label}
			placeholder={label}
			data={data}
			value={(filters[name] as string | undefined) ?? null}
			onChange={(value) => list.setFilter(name, value ?? undefined)}
			clearable
			clearButtonProps={{
				"aria-label": `Clear ${label}`,
				"aria-hidden": false,
				tabIndex: 0,
			}}
			w={width}
		/>
	);
	return (
		<>
			{choice("status", "Status", optionsOf(STATUSES), 110)}
			{choice("freshness", "Freshness", optionsOf(FRESHNESS), 125)}
			{choice(
				"platform",
				"Platform",
				Object.entries(PLATFORMS).map(([value, label]) => ({ value, label })),
				115,
			)}
			{choice(
				"failing_check",
				"Failing check",
				[...checks].map((value) => ({ value, label: checkLabel(value) })),
				165,
			)}
			{OTHER_STATES.map(
				([name, label]) =>
					filters[name] !== undefined && (
						<Pill
							key={name}
							size="md"
							withRemoveButton
							onRemove={() => list.setFilter(name, undefined)}
							removeButtonProps={{
								"aria-label": `Remove the filter ${label}`,
								"aria-hidden": false,
								tabIndex: 0,
							}}
						>
							{label}: {checkLabel(String(filters[name]))}
						</Pill>
					),
			)}
			<ReferencePicker
				organizationId={organizationId}
				kind="people"
				aria-label="Owner"
				placeholder="Owner"
				w={140}
				none="Nobody"
				value={
					filters.owner_id === null
						? NONE
						: ((filters.owner_id as string | undefined) ?? null)
				}
				onChange={(id) =>
					list.setFilter("owner_id", id === NONE ? null : (id ?? undefined))
				}
			/>
		</>
	);
}

/** Seldom chosen, so without a control of their own; the home page's numbers lead here with them. */
const OTHER_STATES = [
	["passing_check", "Passing"],
	["unknown_check", "Unknown"],
] as const;

function optionsOf(words: Record<string, { label: string }>) {
	return Object.entries(words).map(([value, { label }]) => ({ value, label }));
}
