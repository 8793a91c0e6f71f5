import { Group, Stack, Tabs, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { ApiError } from "../../api.ts";
import { useChangeSearch } from "../../change-search.ts";
import { formatDay, todayHere } from "../../parts/days.ts";
import {
	type Device,
	DeviceState,
	deviceName,
	STATUSES,
} from "../../parts/devices/device-words.tsx";
import { ErrorState, NotFoundPage } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { CommentsPanel } from "../../parts/records/comments-panel.tsx";
import { LinksPanel } from "../../parts/records/links-panel.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { operationQuery } from "../../queries.ts";
import { Approval, ClaimedOwner } from "./approval.tsx";
import { ChecksTab } from "./checks-tab.tsx";
import { CloneActions } from "./clone-actions.tsx";
import { Conflicts } from "./conflicts.tsx";
import { DeviceActions } from "./device-actions.tsx";
import { EnrollmentTab } from "./enrollment-tab.tsx";
import { Facts } from "./facts.tsx";
import { momentOnDay } from "./history.ts";
import { HistoryTab } from "./history-tab.tsx";
import { NotReporting } from "./not-reporting.tsx";
import { ReportsTab } from "./reports-tab.tsx";
import { ToDevices } from "./to-devices.tsx";

const TABS = {
	checks: "Checks",
	history: "History",
	reports: "Reports",
	links: "Links",
	comments: "Comments",
	enrollment: "Enrollment",
} as const;

type Tab = keyof typeof TABS;

/**
 * Milliseconds after which the page loads the device again while it waits for the device to enroll.
 */
const WAITING_MS = 3_000;
const USUAL_MS = 30_000;

/** Shows a device: its state, the results of its checks, its facts, its history and its owner. */
export function Page() {
	const from = "/signed-in/o/$org/devices/$id";
	const { id } = useParams({ from });
	const { tab = "checks", check, at } = useSearch({ from });
	const changeSearch = useChangeSearch();
	const found = useQuery({
		...operationQuery("getDevice", { id }),
		refetchInterval: ({ state }) =>
			state.data?.device.status === "PENDING" ? WAITING_MS : USUAL_MS,
	});
	if (found.isPending) return <PageSkeleton />;
	if (!found.data) {
		const { error } = found;
		return error instanceof ApiError && [400, 404].includes(error.status) ? (
			<NotFoundPage />
		) : (
			<ErrorState error={error} onRetry={found.refetch} />
		);
	}
	const { device } = found.data;
	const dayBelow =
		tab === "history" && momentOnDay(at) && at && at < todayHere()
			? at
			: undefined;
	return (
		<>
			<PageHeader
				parent={<ToDevices />}
				title={deviceName(device)}
				description={<State device={device} dayBelow={dayBelow} />}
				actions={<DeviceActions device={device} />}
			/>
			<Stack gap="lg">
				<Approval device={device} />
				<Conflicts
					found={found.data}
					cloneActions={<CloneActions device={found.data.device} />}
				/>
				<ClaimedOwner device={device} />
				<NotReporting device={device} />
				<Facts device={device} />
				<Tabs
					value={Object.hasOwn(TABS, tab) ? tab : "checks"}
					keepMounted={false}
					onChange={(chosen) =>
						changeSearch(() =>
							chosen === "checks" ? {} : { tab: chosen as Tab },
						)
					}
				>
					<Tabs.List
						ref={showActive}
						mb="md"
						// On a phone, the tabs scroll sideways instead of taking two lines.
						style={{ flexWrap: "nowrap", overflow: "auto hidden" }}
					>
						{(Object.keys(TABS) as Tab[]).map((name) => (
							<Tabs.Tab key={name} value={name}>
								{TABS[name]}
							</Tabs.Tab>
						))}
					</Tabs.List>
					<Tabs.Panel value="checks">
						<ChecksTab device={device} opened={check} />
					</Tabs.Panel>
					<Tabs.Panel value="history">
						<HistoryTab device={device} />
					</Tabs.Panel>
					<Tabs.Panel value="reports">
						<ReportsTab device={device} />
					</Tabs.Panel>
					<Tabs.Panel value="links">
						<LinksPanel
							organizationId={device.organization_id}
							kind="device"
							id={device.id}
						/>
					</Tabs.Panel>
					<Tabs.Panel value="comments">
						<CommentsPanel id={device.id} />
					</Tabs.Panel>
					<Tabs.Panel value="enrollment">
						<EnrollmentTab found={found.data} />
					</Tabs.Panel>
				</Tabs>
			</Stack>
		</>
	);
}

/** Scrolls the tabs, so that the one that a link has opened is in view on a phone. */
function showActive(list: HTMLElement | null) {
	const active = list?.querySelector<HTMLElement>("[aria-selected=true]");
	if (list && active) list.scrollLeft = active.offsetLeft - 16;
}

/**
 * Shows the state of the device, which updates by itself. If the history below shows a past day, says
 * that this is not the state of that day.
 */
function State({
	device,
	dayBelow,
}: {
	device: Device;
	dayBelow: string | undefined;
}) {
	const { tone, label } = STATUSES[device.status];
	return (
		<>
			<Group gap="xs" role="status">
				<StatusBadge tone={tone} label={label} />
				{device.status === "ACTIVE" && <DeviceState device={device} />}
			</Group>
			{dayBelow && (
				<Text size="sm" c="var(--mantine-color-text)" role="note" mt="xs">
					The state and the details up here are those of today. The state on{" "}
					{formatDay(dayBelow)} is below, under History.
				</Text>
			)}
		</>
	);
}
