import { Button, Select, Text } from "@mantine/core";
import { IconPlus, IconShieldOff } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ENDING_DAYS } from "../../../../src/devices/exceptions/exception-status.ts";
import type { InputOf } from "../../api.ts";
import { useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { clearButton } from "../../parts/clear-button.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { ExceptionEnd } from "../../parts/devices/exception-end.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";
import { namedFilter } from "../../parts/filter-width.ts";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { ListError, Pager } from "../../parts/pager.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { checkLabel } from "./checks.ts";
import { ExceptionForm } from "./exception-form.tsx";
import {
	type DeviceException,
	EXCEPTION_STATUSES,
	ExceptionScope,
	ExceptionStatus,
} from "./exception-words.tsx";
import { ToDevices } from "./to-devices.tsx";

/** Lists the exceptions. Members request them, administrators decide on the page of each one. */
export function Page() {
	const { organizationId, mayWrite, mayAdmin } = useOrganization();
	const list = useListSearch();
	const [isAdding, setAdding] = useState(false);
	const exceptions = useQuery({
		...operationQuery("listDeviceExceptions", {
			organization_id: organizationId,
			...list.input,
		} as InputOf<"listDeviceExceptions">),
		placeholderData: keepPreviousData,
	});
	const rows = exceptions.data?.device_exceptions ?? [];
	const isFiltered =
		Object.keys(list.filters).length > 0 || list.search.q !== undefined;
	const isEmpty =
		exceptions.isSuccess &&
		rows.length === 0 &&
		!isFiltered &&
		!list.search.cursor;
	const add = mayWrite && (
		<Button
			leftSection={<IconPlus size={16} aria-hidden />}
			onClick={() => setAdding(true)}
		>
			{mayAdmin ? "Add exception" : "Request an exception"}
		</Button>
	);
	return (
		<>
			<PageHeader
				title="Exceptions"
				isWide
				parent={<ToDevices />}
				description="An exception excuses devices from a check, with a reason, an approval and an end."
				actions={!isEmpty && add}
			/>
			{!isEmpty && (
				<FilterBar list={list} label="Search exceptions">
					<Select
						data={Object.entries(EXCEPTION_STATUSES).map(
							([value, { label }]) => ({ value, label }),
						)}
						value={(list.filters.status as string | undefined) ?? null}
						onChange={(value) => list.setFilter("status", value ?? undefined)}
						clearable
						clearButtonProps={clearButton("Clear Status")}
						{...namedFilter("Status", 150)}
					/>
					<Select
						data={ENDINGS}
						value={chosenIn(list.filters.is_ending_soon)}
						onChange={(value) =>
							list.setFilter(
								"is_ending_soon",
								value ? value === "true" : undefined,
							)
						}
						clearable
						clearButtonProps={clearButton("Clear Ends")}
						{...namedFilter("Ends", 170)}
					/>
					<Select
						data={APPROVALS}
						value={chosenIn(list.filters.is_self_approved)}
						onChange={(value) =>
							list.setFilter(
								"is_self_approved",
								value ? value === "true" : undefined,
							)
						}
						clearable
						clearButtonProps={clearButton("Clear Approval")}
						{...namedFilter("Approval", 200)}
					/>
				</FilterBar>
			)}
			{exceptions.isPending && <RowsSkeleton />}
			{exceptions.isError && (
				<ListError
					error={exceptions.error}
					onRetry={exceptions.refetch}
					list={list}
				/>
			)}
			{isEmpty && (
				<EmptyState
					title="No exceptions yet"
					icon={<IconShieldOff size={32} aria-hidden />}
					actions={add}
				>
					{mayWrite
						? "If a device cannot pass a check for a good reason, request an exception. It ends by itself, and reminds you before."
						: "Members of your organization request exceptions. For your own device, its page offers it beside a check that fails."}
				</EmptyState>
			)}
			{exceptions.isSuccess && rows.length === 0 && isFiltered && (
				<EmptyState
					title="No exception matches"
					actions={
						<Button variant="default" onClick={() => list.clearFilters()}>
							Show all exceptions
						</Button>
					}
				>
					Change the search or the filter.
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label="Exceptions"
					columns={COLUMNS}
					rows={rows}
					list={list}
					isStale={exceptions.isPlaceholderData}
				/>
			)}
			{exceptions.isSuccess && rows.length > 0 && (
				<Pager list={list} page={exceptions.data} shown={rows.length} />
			)}
			{isAdding && <ExceptionForm onClose={() => setAdding(false)} />}
		</>
	);
}

const ENDINGS = [
	{ value: "true", label: `Within ${ENDING_DAYS} days` },
	{ value: "false", label: "Later, or not approved" },
];

const APPROVALS = [
	{ value: "true", label: "By the requester" },
	{ value: "false", label: "By somebody else, or none" },
];

const chosenIn = (filter: unknown) =>
	filter === undefined ? null : String(filter);

const COLUMNS: readonly Column<DeviceException>[] = [
	{
		id: "check",
		header: "Check",
		width: 280,
		cell: (exception) => (
			<>
				<TextLink
					to="/o/$org/devices/exceptions/$id"
					params={{ org: exception.organization_id, id: exception.id }}
					size="sm"
					fw={500}
				>
					{checkLabel(exception.check_key)}
				</TextLink>
				<Text size="xs" c="dimmed" lineClamp={2}>
					{exception.reason}
				</Text>
			</>
		),
	},
	{
		id: "scope",
		header: "For",
		width: 200,
		cell: (exception) => <ExceptionScope exception={exception} />,
	},
	{
		id: "status",
		header: "Status",
		width: 120,
		cell: (exception) => <ExceptionStatus exception={exception} />,
	},
	{
		id: "ends_at",
		header: "Ends",
		sort: "ends_at",
		width: 180,
		cell: ({ ends_at }) => <ExceptionEnd value={ends_at} />,
	},
	{
		id: "requested",
		header: "Requested",
		sort: "created_at",
		width: 180,
		cell: ({ requested_by, created_at }) => (
			<>
				<Text size="sm">{requested_by?.name ?? "A former member"}</Text>
				<Text size="xs" c="dimmed">
					<DateTime value={created_at} />
				</Text>
			</>
		),
	},
	{
		id: "decided",
		header: "Decided",
		width: 180,
		cell: ({ decided_by, is_self_approved }) => (
			<>
				<Text size="sm">{decided_by?.name ?? "–"}</Text>
				{is_self_approved && (
					<StatusBadge tone="warning" label="Approved by the requester" />
				)}
			</>
		),
	},
];
