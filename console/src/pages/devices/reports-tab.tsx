import { Button, Group, Modal, Paper, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { OutputOf } from "../../api.ts";
import { CardTable } from "../../parts/card-table.tsx";
import {
	type Device,
	PostureBadge,
} from "../../parts/devices/device-words.tsx";
import { PARTS } from "../../parts/devices/posture-bar.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { CalendarDate, DateTime, RelativeTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { checkLabel, inOrder } from "./checks.ts";
import { Evidence } from "./evidence.tsx";

type Row = OutputOf<"listDevicePostureReports">["posture_reports"][number];

/** Lists the agent's reports that the service still keeps. */
export function ReportsTab({ device }: { device: Device }) {
	const { cursor, report } = useSearch({
		from: "/signed-in/o/$org/devices/$id",
	});
	const navigate = useNavigate();
	const params = { org: device.organization_id, id: device.id };
	const at = (search: { cursor?: string; report?: string }) => ({
		to: "/o/$org/devices/$id" as const,
		params,
		search: { tab: "reports", ...search },
		resetScroll: false,
	});
	const here = cursor ? { cursor } : {};
	const reports = useQuery(
		operationQuery("listDevicePostureReports", {
			device_id: device.id,
			...here,
		}),
	);
	const rows = reports.data?.posture_reports ?? [];
	const next = reports.data?.next_cursor;
	return (
		<>
			{reports.isPending && <RowsSkeleton />}
			{reports.isError && (
				<ErrorState error={reports.error} onRetry={reports.refetch} />
			)}
			{reports.isSuccess && rows.length === 0 && (
				<EmptyState title="No reports">
					The agent reports after its first heartbeat, and then at each
					interval. Old reports are deleted; the history is kept.
				</EmptyState>
			)}
			{rows.length > 0 && (
				<Paper withBorder style={{ overflow: "hidden" }}>
					<CardTable
						label="Reports"
						minWidth={640}
						columns={["Received", "Results", "Age", "Kept until"]}
						rows={rows.map((row) => ({
							key: row.report_id,
							cells: [
								<div key="received">
									<TextLink
										{...at({ ...here, report: row.report_id })}
										className="data-table-link"
										size="sm"
									>
										<DateTime value={row.received_at} />
									</TextLink>
									<Waited report={row} />
								</div>,
								<Results key="results" report={row} />,
								<RelativeTime key="age" value={row.received_at} />,
								row.kept_until ? (
									<CalendarDate key="until" value={row.kept_until} />
								) : (
									"Indefinitely"
								),
							],
						}))}
					/>
				</Paper>
			)}
			{(cursor || next) && (
				<Group justify="flex-end" mt="md" component="nav" aria-label="Pages">
					{cursor && (
						<Button variant="default" onClick={() => navigate(at({}))}>
							First page
						</Button>
					)}
					<Button
						variant="default"
						disabled={!next}
						onClick={() => next && navigate(at({ cursor: next }))}
					>
						Next page
					</Button>
				</Group>
			)}
			{report && (
				<Report
					device={device}
					reportId={report}
					onClose={() => navigate(at(here))}
				/>
			)}
		</>
	);
}

/**
 * Delay in milliseconds from which the page also shows when a report was observed. An agent
 * normally sends a report at once. If it arrives later, it had to wait for the service or for a
 * network.
 */
const WAITED_MS = 60_000;

function Waited({ report: { received_at, observed_at } }: { report: Row }) {
	if (!observed_at) return null;
	const waitedMs = Date.parse(received_at) - Date.parse(observed_at);
	if (waitedMs < WAITED_MS) return null;
	return (
		<Text size="xs" c="dimmed">
			Observed <DateTime value={observed_at} />
		</Text>
	);
}

const COUNTED = ["fail", "unknown", "pass", "not_applicable"] as const;

const TONES = {
	fail: "bad",
	unknown: "warning",
	pass: "good",
	not_applicable: "neutral",
} as const;

/** Shows the results of a report. Failing ones come first, then the others by name. */
function Results({ report }: { report: Row }) {
	const failing = inOrder(report.failing_checks).filter((key) =>
		report.failing_checks.includes(key),
	);
	return (
		<>
			<Group gap={6}>
				{COUNTED.filter((status) => report[status] > 0).map((status) => (
					<StatusBadge
						key={status}
						tone={TONES[status]}
						label={`${report[status]} ${PARTS[status].label.toLowerCase()}`}
					/>
				))}
			</Group>
			{failing.length > 0 && (
				<Text size="xs" c="dimmed" lineClamp={2} mt={2}>
					{failing.map(checkLabel).join(", ")}
				</Text>
			)}
		</>
	);
}

function Report({
	device,
	reportId,
	onClose,
}: {
	device: Device;
	reportId: string;
	onClose: () => void;
}) {
	useReturnFocus();
	const found = useQuery(
		operationQuery("getDevicePostureReport", {
			device_id: device.id,
			report_id: reportId,
		}),
	);
	const report = found.data?.posture_report;
	return (
		<Modal
			opened
			onClose={onClose}
			size="lg"
			title="Report"
			closeButtonProps={{ "aria-label": "Close" }}
		>
			{found.isPending && <RowsSkeleton />}
			{found.isError && (
				<ErrorState error={found.error} onRetry={found.refetch} />
			)}
			{report && (
				<Stack>
					<Text size="sm" c="dimmed">
						Received <DateTime value={report.received_at} />, {report.report_id}
					</Text>
					{report.results.map((result, index) => (
						<Paper
							// biome-ignore lint/suspicious/noArrayIndexKey: a report never changes.
							key={index}
							withBorder
							p="sm"
							component="section"
							aria-label={checkLabel(result.check_key)}
						>
							<Group justify="space-between" mb="xs" gap="xs">
								<Text fw={500}>{checkLabel(result.check_key)}</Text>
								<PostureBadge status={result.status} isCurrent />
							</Group>
							<Text size="xs" c="dimmed" mb="xs">
								Observed <DateTime value={result.observed_at} />
								{result.claimed_observed_at && (
									<>
										; the device's clock said{" "}
										<DateTime value={result.claimed_observed_at} />
									</>
								)}
							</Text>
							<Evidence
								evidence={result.evidence}
								checkName={checkLabel(result.check_key)}
							/>
						</Paper>
					))}
				</Stack>
			)}
		</Modal>
	);
}
