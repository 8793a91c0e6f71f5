import {
	Group,
	Paper,
	SegmentedControl,
	SimpleGrid,
	Text,
	Title,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import styles from "../../parts/records/risk-matrix.module.css";
import {
	colorsOf,
	type RiskCells,
	RiskMatrix,
	type RiskView,
	VIEWS,
} from "../../parts/records/risk-matrix.tsx";
import { BANDS, bandOf } from "../../parts/records/risk-scores.ts";
import { operationQuery } from "../../queries.ts";

const SHOWN = [
	{ value: "both", label: "Both" },
	{ value: "inherent", label: "Inherent" },
	{ value: "residual", label: "Residual" },
];

/** Shows the risk matrix: how many risks have each likelihood and impact. */
export function Page() {
	const { organizationId, mayWrite } = useOrganization();
	const { of } = useSearch({ from: "/signed-in/o/$org/r/risk/matrix" });
	const navigate = useNavigate();
	const matrix = useQuery(
		operationQuery("getRiskMatrix", { organization_id: organizationId }),
	);
	const views: RiskView[] =
		of === "inherent" || of === "residual" ? [of] : ["inherent", "residual"];
	const risks = matrix.data;
	return (
		<>
			<PageHeader
				title="Risk matrix"
				description="The number of risks by likelihood and impact. Click a number to see its risks."
				actions={
					<>
						<SegmentedControl
							aria-label="Which matrix"
							data={SHOWN}
							value={views.length === 2 ? "both" : (of ?? "both")}
							onChange={(value) =>
								navigate({
									to: "/o/$org/r/risk/matrix",
									params: { org: organizationId },
									search: value === "both" ? {} : { of: value },
									resetScroll: false,
								})
							}
						/>
						<ButtonLink
							variant="default"
							to="/o/$org/r/$kind"
							params={{ org: organizationId, kind: "risk" }}
						>
							List of risks
						</ButtonLink>
					</>
				}
			/>
			{matrix.isError ? (
				<ErrorState error={matrix.error} onRetry={() => matrix.refetch()} />
			) : !risks ? (
				<RowsSkeleton rows={10} />
			) : risks.inherent.length === 0 ? (
				<EmptyState
					title="There are no risks yet"
					actions={
						mayWrite && (
							<ButtonLink
								to="/o/$org/r/$kind/new"
								params={{ org: organizationId, kind: "risk" }}
							>
								New risk
							</ButtonLink>
						)
					}
				>
					{mayWrite
						? "Describe what could happen, how likely it is and how severe it would be. The risk then appears here."
						: "A member of the organization can add them."}
				</EmptyState>
			) : (
				<SimpleGrid cols={{ base: 1, lg: views.length }} spacing="lg">
					{views.map((view) => (
						<Paper
							key={view}
							withBorder
							p={{ base: "sm", sm: "lg" }}
							component="section"
							aria-label={VIEWS[view].label}
							maw={760}
						>
							<Group gap="xs" align="baseline" mb="sm">
								<Title order={2}>{VIEWS[view].label}</Title>
								<Text c="dimmed" size="sm">
									{VIEWS[view].means}
								</Text>
							</Group>
							<RiskMatrix
								organizationId={organizationId}
								of={view}
								cells={risks[view]}
							/>
							<Bands
								organizationId={organizationId}
								of={view}
								cells={risks[view]}
							/>
						</Paper>
					))}
				</SimpleGrid>
			)}
		</>
	);
}

/** Shows the legend of the colors, with the number of risks in each band. */
function Bands({
	organizationId,
	of,
	cells,
}: {
	organizationId: string;
	of: RiskView;
	cells: RiskCells;
}) {
	return (
		<Group
			component="ul"
			aria-label="Bands"
			gap="lg"
			p={0}
			mt="md"
			mb={0}
			style={{ listStyle: "none", rowGap: 6 }}
		>
			{BANDS.map((band) => {
				const { id, label, min, max } = band;
				const count = cells
					.filter((cell) => bandOf(cell.likelihood * cell.impact)?.id === id)
					.reduce((sum, { risks }) => sum + risks, 0);
				return (
					<Group key={id} component="li" gap={6} wrap="nowrap">
						<span
							className={styles.swatch}
							style={colorsOf(band)}
							aria-hidden
						/>
						<Text size="sm">
							{label} ({min} to {max}):{" "}
							{count === 0 ? (
								"0"
							) : (
								<TextLink
									inherit
									fw={600}
									underline="always"
									to="/o/$org/r/$kind"
									params={{ org: organizationId, kind: "risk" }}
									search={{
										[`min_${of}_risk_score`]: min,
										[`max_${of}_risk_score`]: max,
									}}
								>
									{count.toLocaleString()}
								</TextLink>
							)}
						</Text>
					</Group>
				);
			})}
		</Group>
	);
}
