import { useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { Columns } from "../../parts/columns.tsx";
import { TrendPlot } from "../../parts/plots/trend-plot.tsx";
import { trendsOf } from "../../parts/plots/trends.ts";
import { operationQuery } from "../../queries.ts";
import { Section } from "./home-section.tsx";

/**
 * Shows how the figures changed over twelve months. Nothing, as long as only one day is known.
 * `passPercent` is the pass rate of today.
 */
export function Trends({ passPercent }: { passPercent: number | null }) {
	const { organizationId } = useOrganization();
	const { data } = useQuery({
		...operationQuery("getTrends", {
			organization_id: organizationId,
			counts_today: false,
		}),
		refetchInterval: 5 * 60_000,
	});
	const trends = trendsOf(data?.points ?? [], passPercent);
	if (trends.length === 0) return null;
	return (
		<Section title="Twelve months">
			<Columns cols={{ base: 1, sm: 3 }} spacing="xl">
				{trends.map((trend) => (
					<TrendPlot key={trend.label} trend={trend} />
				))}
			</Columns>
		</Section>
	);
}
