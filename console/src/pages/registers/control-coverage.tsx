import { Group, List, Paper, Text, Title } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import {
	type AnyRecord,
	choiceLabel,
	describeKind,
	fieldOf,
} from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { type CoverageState, STATES } from "./coverage-states.ts";
import { foundByCheck } from "./hints.ts";

type Coverage = OutputOf<"getControl">["coverage"];
type Measure = Coverage["measures"][number];

const STATE_OF = {
	IMPLEMENTED: "covered",
	PARTLY_IMPLEMENTED: "partly",
	CONTRADICTED: "contradicted",
	IN_PROGRESS: "started",
	NOT_STARTED: "planned",
	NONE: "open",
} as const satisfies Record<
	NonNullable<Coverage["implementation"]>,
	CoverageState
>;

/**
 * Shows how far the measures of a control cover it, as the page of its framework does, and what
 * each of the others lacks.
 */
export function ControlCoverage({ control }: { control: AnyRecord }) {
	const { organizationId } = useOrganization();
	const { coverage } = control as { coverage?: Coverage };
	// The reply to a change lacks it, and the page then reads the control again.
	if (!coverage) return null;
	const { implementation, measures } = coverage;
	const state = implementation ? STATE_OF[implementation] : "excluded";
	const counting = measures.filter(({ state }) => state !== "NOT_APPLICABLE");
	const open =
		state === "excluded"
			? []
			: counting.filter(({ state }) => state !== "IMPLEMENTED");
	return (
		<Paper withBorder p="lg" component="section" aria-label="Coverage">
			<Group gap="sm" mb={4}>
				<Title order={2}>Coverage</Title>
				<StatusBadge {...STATES[state]} />
			</Group>
			<Text size="sm">{explain(state, counting.length, open.length)}</Text>
			{open.length > 0 && (
				<List size="sm" mt="xs" spacing={4} aria-label="Measures to finish">
					{open.map((measure) => (
						<List.Item key={measure.id}>
							<TextLink
								to="/o/$org/r/$kind/$id"
								params={{
									org: organizationId,
									kind: "measure",
									id: measure.id,
								}}
								underline="always"
								inherit
							>
								{measure.name}
							</TextLink>
							: {lackOf(measure)}
						</List.Item>
					))}
				</List>
			)}
		</Paper>
	);
}

function explain(state: CoverageState, counting: number, open: number): string {
	if (state === "excluded") return "The control does not apply.";
	if (state === "open") return "No measure that applies is linked.";
	if (open === 0) {
		return counting === 1
			? "Its measure is implemented."
			: `${counting === 2 ? "Both" : `All ${counting}`} measures that apply are implemented.`;
	}
	const done = counting - open;
	const of =
		counting === 1
			? "Its measure does not count as implemented"
			: `${done === 0 ? "None" : done} of ${counting} measures that apply ${done > 1 ? "are" : "is"} implemented`;
	return `${of}:`;
}

/** Says why a measure does not count as implemented. */
function lackOf(measure: Measure): string {
	if (measure.state === "CONTRADICTED") {
		return `the state says Implemented, but ${foundByCheck(measure)}.`;
	}
	const field = fieldOf(describeKind("measure"), "state");
	return field ? `${choiceLabel(field, measure.state)}.` : "";
}
