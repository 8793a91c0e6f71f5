import { Grid, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { LeftOutInPast } from "../../parts/left-out-in-past.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { operationQuery } from "../../queries.ts";
import { Coverage } from "./coverage.tsx";
import { FleetPosture } from "./fleet-posture.tsx";
import { RiskOverview } from "./risk-overview.tsx";

/**
 * Shows the devices, the risks and the coverage of frameworks as of a past day. Work that is due and
 * messages to the reader belong to the present.
 */
export function PastHome() {
	const { organization, organizationId } = useOrganization();
	const input = { organization_id: organizationId };
	const summary = useQuery(operationQuery("listPostureSummary", input));
	const risks = useQuery(operationQuery("getRiskMatrix", input));
	const coverage = useQuery(operationQuery("getCoverages", input));
	const all = [summary, risks, coverage];
	const failed = all.find(({ isError }) => isError);
	return (
		<>
			<PageHeader
				title="Home"
				description={organization.description ?? organization.name}
			/>
			{failed ? (
				<ErrorState
					error={failed.error}
					onRetry={() => Promise.all(all.map(({ refetch }) => refetch()))}
				/>
			) : !summary.data || !risks.data || !coverage.data ? (
				<RowsSkeleton rows={10} />
			) : (
				<Stack gap="md">
					<FleetPosture summary={summary.data} />
					<Grid gap="md">
						<Grid.Col span={{ base: 12, md: 6 }}>
							<RiskOverview risks={risks.data} />
						</Grid.Col>
						<Grid.Col span={{ base: 12, md: 6 }}>
							<Coverage coverage={coverage.data.coverage} />
						</Grid.Col>
					</Grid>
					<LeftOutInPast>
						due work, messages to you, trends and recent changes
					</LeftOutInPast>
				</Stack>
			)}
		</>
	);
}
