import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useOrganization } from "../../organization.ts";
import { Columns } from "../../parts/columns.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { operationQuery } from "../../queries.ts";
import { ClaimedDevices } from "./claimed-devices.tsx";
import { ContradictedMeasures } from "./contradicted-measures.tsx";
import { Coverage } from "./coverage.tsx";
import { Discussion } from "./discussion.tsx";
import { DueWork, type Overview } from "./due-work.tsx";
import { EndingKeys } from "./ending-keys.tsx";
import { FailingLongest, NewlyFailing } from "./failing-longest.tsx";
import { FirstSteps, NextSteps } from "./first-steps.tsx";
import { FleetPosture, type Summary } from "./fleet-posture.tsx";
import { hasWork, MyWork, mayHaveWork } from "./my-work.tsx";
import { OldTokens } from "./old-tokens.tsx";
import { PastHome } from "./past-home.tsx";
import { RecentEntries, RecentRecords } from "./recent-changes.tsx";
import { Reminders } from "./reminders.tsx";
import { RiskOverview } from "./risk-overview.tsx";
import { Trends } from "./trends.tsx";
import { UnknownKeys } from "./unknown-keys.tsx";
import { Waiting } from "./waiting.tsx";

const EVERY_MS = 60_000;

/**
 * Shows Home, the page after a sign-in. It puts the sections of the organization's state in order.
 */
export function Page() {
	const { day } = useOrganization();
	return day ? <PastHome /> : <PresentHome />;
}

/**
 * Shows the state of the fleet and of the registers.
 */
function PresentHome() {
	const { organization, organizationId, mayAdmin } = useOrganization();
	const input = { organization_id: organizationId };
	const overview = useQuery({
		...operationQuery("getOverview", input),
		refetchInterval: EVERY_MS,
	});
	const summary = useQuery({
		...operationQuery("listPostureSummary", input),
		refetchInterval: EVERY_MS,
	});
	const failed = [overview, summary].find(({ isError }) => isError);
	return (
		<>
			<PageHeader
				title="Home"
				description={organization.description ?? organization.name}
			/>
			{failed ? (
				<ErrorState
					error={failed.error}
					onRetry={() => Promise.all([overview.refetch(), summary.refetch()])}
				/>
			) : !overview.data || !summary.data ? (
				<RowsSkeleton rows={10} />
			) : (
				<Stack gap="md">
					<Content overview={overview.data} summary={summary.data}>
						{mayAdmin ? (
							<RecentEntries />
						) : (
							<RecentRecords records={overview.data.recently_changed} />
						)}
					</Content>
				</Stack>
			)}
		</>
	);
}

function Content({
	overview,
	summary,
	children,
}: {
	overview: Overview;
	summary: Summary;
	children: ReactNode;
}) {
	const { mayWrite, mayAdmin } = useOrganization();
	const { PENDING, ACTIVE, REVOKED } = summary.devices_by_status;
	const hasDevices = PENDING + ACTIVE + REVOKED > 0;
	const hasRecords =
		overview.coverage.length > 0 || overview.risks.inherent.length > 0;
	const isNew = !hasDevices && overview.recently_changed.length === 0;
	const held = { hasDevices: ACTIVE > 0, hasRecords };
	// The steps of a member are few. In an organization that has begun, what comes next is enough.
	const steps =
		isNew || mayAdmin ? <FirstSteps {...held} /> : <NextSteps {...held} />;
	if (isNew) {
		return (
			<>
				{!mayWrite && (
					<EmptyState title="Nothing is here yet">
						This page will sum up devices, risks and the other registers.
					</EmptyState>
				)}
				<Waiting overview={overview} />
				{mayWrite && steps}
			</>
		);
	}
	return (
		<>
			{mayWrite && steps}
			<UnknownKeys found={overview.unknown_device_keys} />
			<EndingKeys found={overview.enrollment_keys_ending} />
			<ContradictedMeasures measures={overview.contradicted_measures} />
			<OldTokens count={overview.old_api_tokens} />
			<Waiting overview={overview} />
			<ClaimedDevices overview={overview} />
			{/* A person waits for an answer. The list of failures beside one's work can be long. */}
			<Discussion comments={overview.discussion} />
			<SideBySide
				parts={[
					...(mayHaveWork(overview, mayWrite)
						? [
								{
									key: "mine",
									isEmpty: !hasWork(overview),
									shown: <MyWork overview={overview} />,
								},
							]
						: []),
					{
						key: "new",
						isEmpty: overview.newly_failing.length === 0,
						shown: <NewlyFailing failing={overview.newly_failing} />,
					},
				]}
			/>
			<DueWork overview={overview} />
			<Reminders overview={overview} />
			<FleetPosture summary={summary} />
			<Trends passPercent={summary.pass_percent} />
			<SideBySide
				parts={[
					{
						key: "risks",
						isEmpty: overview.risks.residual.length === 0,
						shown: <RiskOverview risks={overview.risks} />,
					},
					{
						key: "longest",
						isEmpty: overview.failing_longest.length === 0,
						shown: (
							<FailingLongest
								failing={overview.failing_longest}
								isAnyOnline={(summary.devices_by_freshness?.ONLINE ?? 0) > 0}
							/>
						),
					},
					{
						key: "coverage",
						isEmpty: overview.coverage.length === 0,
						shown: <Coverage coverage={overview.coverage} />,
					},
				]}
			/>
			{children}
		</>
	);
}

/** Shows sections beside each other. An empty one is a line of its own, above the others. */
function SideBySide({
	parts,
}: {
	parts: { key: string; isEmpty: boolean; shown: ReactNode }[];
}) {
	const filled = parts.filter(({ isEmpty }) => !isEmpty);
	return (
		<>
			{parts
				.filter(({ isEmpty }) => isEmpty)
				.map(({ key, shown }) => (
					<div key={key}>{shown}</div>
				))}
			{filled.length > 0 && (
				<Columns
					spacing="md"
					cols={{
						base: 1,
						md: Math.min(2, filled.length),
						lg: filled.length,
					}}
				>
					{filled.map(({ key, shown }) => (
						<div key={key} style={{ minWidth: 0 }}>
							{shown}
						</div>
					))}
				</Columns>
			)}
		</>
	);
}
