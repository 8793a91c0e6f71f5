import { MAX_RISKS } from "../../../../src/overview/max-risks.ts";
import { stepLabel } from "../../../../src/records/scales.ts";
import type { OutputOf } from "../../api.ts";
import type { AnyRecord } from "../../kinds.ts";
import { inWords } from "../../parts/names-in-words.ts";
import {
	BANDS,
	bandOf,
	COUNTED_RISKS,
} from "../../parts/records/risk-scores.ts";
import { shownValue } from "../../parts/records/undecided.ts";
import {
	cell,
	linesOf,
	measuresInWords,
	readAll,
	readNames,
} from "./read-all.ts";
import { NOTHING, type Report, type ReportInput } from "./report.ts";

const WHICH = ["inherent", "residual"] as const;
type Which = (typeof WHICH)[number];

/**
 * All risks with likelihood, impact and level before and after treatment, and with their measures.
 * The highest residual score comes first.
 */
export async function readRiskRegister(input: ReportInput): Promise<Report> {
	const { organizationId, asOf } = input;
	const { records, isCut } = await readAll(input, "risk", {
		organization_id: organizationId,
		order_by: { field: "residual_risk_score", direction: "DESC" },
		as_of: asOf,
	});
	const [owners, measures, cells] = await Promise.all([
		readNames(input, records, "owner_id"),
		readMeasures(input, records),
		input.source.call("getRiskMatrix", {
			organization_id: organizationId,
			as_of: asOf,
		}),
	]);
	const summary = summaryOf(cells);
	const title = "Risks";
	const rows = records.map((risk) => ({
		name: cell(risk.name),
		description: cell(risk.description),
		category: cell(risk.category),
		owner: cell(owners.get(risk.owner_id)),
		inherent: scoreOf(risk, "inherent"),
		treatment: treatmentOf(risk),
		measures: measures.get(risk.id) ?? NOTHING,
		residual: scoreOf(risk, "residual"),
		note: cell(shownValue(risk, "note")),
	}));
	return {
		isCut,
		tables: [
			summary,
			{
				title,
				columns: [
					"Risk",
					"Description",
					"Category",
					"Owner",
					"Inherent likelihood",
					"Inherent impact",
					"Inherent score",
					"Inherent level",
					"Treatment",
					"Measures",
					"Residual likelihood",
					"Residual impact",
					"Residual score",
					"Residual level",
					"Note",
				],
				rows: rows.map((risk) => [
					risk.name,
					risk.description,
					risk.category,
					risk.owner,
					...cellsOf(risk.inherent),
					risk.treatment,
					risk.measures,
					...cellsOf(risk.residual),
					risk.note,
				]),
			},
		],
		pageTables: [
			summary,
			{
				title,
				note: `Inherent is before treatment, residual after it. A score is likelihood × impact: ${LEVELS}.`,
				columns: [
					"Risk",
					"Category",
					"Owner",
					"Inherent risk",
					"Treatment",
					"Measures",
					"Residual risk",
				],
				stacked: [0, 3, 4, 6],
				rows: rows.map((risk) => [
					linesOf(risk.name, risk.description),
					risk.category,
					risk.owner,
					scoreInLines(risk.inherent),
					linesOf(risk.treatment, risk.note),
					risk.measures,
					scoreInLines(risk.residual),
				]),
			},
		],
	};
}

/** The levels with their scores in words, such as "low 1 to 4". */
const LEVELS = BANDS.map(
	({ label, min, max }) => `${label.toLowerCase()} ${min} to ${max}`,
).join(", ");

interface Score {
	likelihood: string;
	impact: string;
	score: string | number;
	level: string;
}

function scoreOf(risk: AnyRecord, which: Which): Score {
	const score = risk[`${which}_risk_score`];
	return {
		likelihood: stepOf(risk, `${which}_likelihood`),
		impact: stepOf(risk, `${which}_impact`),
		score: cell(score),
		level: bandOf(Number(score))?.label ?? NOTHING,
	};
}

/** Returns a step of a scale with its word, such as "4 Likely". */
const stepOf = (risk: AnyRecord, field: string) => {
	const step = risk[field];
	return typeof step === "number" ? stepLabel(field, step) : NOTHING;
};

const cellsOf = ({ likelihood, impact, score, level }: Score) => [
	likelihood,
	impact,
	score,
	level,
];

const scoreInLines = ({ likelihood, impact, score, level }: Score) =>
	`${score} ${level}\nLikelihood: ${likelihood}\nImpact: ${impact}`;

const treatmentOf = (risk: AnyRecord) =>
	inWords(String(shownValue(risk, "treatment") ?? NOTHING));

/** Adds up the risks of each level, before and after treatment. */
function summaryOf(cells: OutputOf<"getRiskMatrix">) {
	const levels = BANDS.toReversed();
	const counted = (which: Which) =>
		levels.map(({ min, max }) =>
			cells[which]
				.filter(({ likelihood, impact }) => {
					const score = likelihood * impact;
					return score >= min && score <= max;
				})
				.reduce((sum, { risks }) => sum + risks, 0),
		);
	return {
		title: "Summary",
		note: COUNTED_RISKS,
		isCount: true as const,
		columns: ["Risks by level", ...levels.map(({ label }) => label)],
		rows: WHICH.map((which) => [inWords(which), ...counted(which)]),
	};
}

/** Reads the measures of risks at a moment, in words by the id of the risk. */
async function readMeasures(
	{ organizationId, asOf, source }: ReportInput,
	risks: readonly AnyRecord[],
): Promise<ReadonlyMap<string, string>> {
	const found = new Map<string, string>();
	for (let at = 0; at < risks.length; at += MAX_RISKS) {
		const page = await source.call("getMeasuresOfRisks", {
			organization_id: organizationId,
			risk_ids: risks.slice(at, at + MAX_RISKS).map(({ id }) => id),
			as_of: asOf,
		});
		for (const { risk_id, measures } of page.risks) {
			found.set(risk_id, measuresInWords(measures));
		}
	}
	return found;
}
