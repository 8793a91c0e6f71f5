import { Text } from "@mantine/core";
import { useOrganization } from "../../../organization.ts";
import { TextLink } from "../../../parts/links.tsx";
import styles from "./board.module.css";
import { type Decision, namesInWords } from "./board.ts";

type Search = Record<string, string | number | boolean>;

/** The lists with the records of a decision. The other decisions are about exceptions. */
const LISTS: Record<string, { kind: string; search: Search }> = {
	CRITICAL_RISKS: {
		kind: "risk",
		// The filter names a band only if it has both ends.
		search: {
			min_residual_risk_score: 15,
			max_residual_risk_score: 25,
			is_accepted: false,
		},
	},
	UNDECIDED_RISKS: { kind: "risk", search: { is_undecided: true } },
	ENDED_ACCEPTANCES: {
		kind: "risk",
		search: { treatment: "ACCEPTED", accepted_until: "overdue" },
	},
	OVERDUE_MAJOR_NONCONFORMITIES: {
		kind: "nonconformity",
		search: { severity: "MAJOR", is_open: true, due: "overdue" },
	},
	CONTRADICTED_MEASURES: {
		kind: "measure",
		search: { is_contradicted: true },
	},
	DOCUMENTS_TO_APPROVE: { kind: "document", search: {} },
};

/** Lists what needs a decision, each with its number, its first records and a link to all. */
export function Decisions({ decisions }: { decisions: readonly Decision[] }) {
	if (decisions.length === 0)
		return <Text c="dimmed">Nothing waits for a decision.</Text>;
	return (
		<ul className={styles.decisions}>
			{decisions.map((decision) => (
				<li key={decision.kind}>
					<span className={styles.count}>
						{decision.count.toLocaleString()}
					</span>
					<div>
						<DecisionLink decision={decision} />
						<Text size="sm" c="dimmed" className={styles.names}>
							{namesInWords(decision)}
						</Text>
					</div>
				</li>
			))}
		</ul>
	);
}

function DecisionLink({ decision: { kind, text } }: { decision: Decision }) {
	const { organizationId: org } = useOrganization();
	const list = LISTS[kind];
	return list ? (
		<TextLink
			to="/o/$org/r/$kind"
			params={{ org, kind: list.kind }}
			search={list.search}
			fw={500}
		>
			{text}
		</TextLink>
	) : (
		<TextLink
			to="/o/$org/devices/exceptions"
			params={{ org }}
			search={
				kind === "EXCEPTIONS_TO_DECIDE"
					? { status: "REQUESTED" }
					: { is_ending_soon: true, sort: "ends_at", dir: "asc" }
			}
			fw={500}
		>
			{text}
		</TextLink>
	);
}
