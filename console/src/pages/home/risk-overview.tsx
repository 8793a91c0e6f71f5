import { Group, Stack, Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { RiskMatrixSmall } from "../../parts/records/risk-matrix.tsx";
import {
	BANDS,
	bandOf,
	COUNTED_RISKS,
} from "../../parts/records/risk-scores.ts";
import { Section } from "./home-section.tsx";

/** Shows the number of residual risks in each band, and the risk matrix. */
export function RiskOverview({ risks }: { risks: OutputOf<"getRiskMatrix"> }) {
	const { organizationId, mayWriteKind } = useOrganization();
	const counts = new Map(BANDS.map(({ id }) => [id, 0]));
	for (const { likelihood, impact, risks: count } of risks.residual) {
		const band = bandOf(likelihood * impact);
		if (band) counts.set(band.id, (counts.get(band.id) ?? 0) + count);
	}
	return (
		<Section
			title="Residual risks"
			none={
				risks.residual.length > 0 ? undefined : (
					<>
						No risks yet.{" "}
						{mayWriteKind("risk") && (
							<TextLink
								to="/o/$org/r/$kind/new"
								params={{ org: organizationId, kind: "risk" }}
								inherit
								underline="always"
							>
								Add a risk
							</TextLink>
						)}
					</>
				)
			}
			more={
				<TextLink
					to="/o/$org/r/risk/matrix"
					params={{ org: organizationId }}
					size="sm"
				>
					Risk matrix
				</TextLink>
			}
		>
			<Stack gap="md">
				<Group gap="lg">
					{BANDS.toReversed().map(({ id, label, min, max, background }) => (
						<TextLink
							key={id}
							to="/o/$org/r/$kind"
							params={{ org: organizationId, kind: "risk" }}
							search={{
								min_residual_risk_score: min,
								max_residual_risk_score: max,
							}}
							underline="never"
							c="inherit"
						>
							<Text span fz={24} fw={600} display="block" lh={1.25}>
								{counts.get(id)?.toLocaleString()}
							</Text>
							<PlainText
								span
								size="sm"
								style={{ borderBottom: `3px solid ${background}` }}
							>
								{label}
							</PlainText>
						</TextLink>
					))}
				</Group>
				<PlainText size="sm" c="dimmed">
					{COUNTED_RISKS}
				</PlainText>
				<RiskMatrixSmall
					organizationId={organizationId}
					of="residual"
					cells={risks.residual}
				/>
			</Stack>
		</Section>
	);
}
