import { z } from "zod";
import { archivedField } from "../records/archived-field.ts";
import {
	computedInteger,
	optionalDate,
	optionalScale,
	optionalText,
	owner,
	requiredChoice,
	requiredName,
	requiredScale,
} from "../records/field.ts";
import type { Filter } from "../records/filter.ts";
import { recordKind } from "../records/kind.ts";
import { byDate, byScore, byText, type Order } from "../records/list-pages.ts";
import { described } from "../records/shown-in-tool-list.ts";
import {
	followTreatment,
	IS_ACCEPTED_SQL,
	IS_DECIDED_OTHERWISE_SQL,
	IS_UNDECIDED_SQL,
	undecidedInCsv,
} from "../starters/undecided.ts";

const scoreFilter = (
	column: string,
	end: "least" | "greatest",
	word: string,
): Filter => ({
	bound: { of: column, end },
	schema: z
		.int()
		.min(1)
		.max(25)
		.describe(`${word} score, 1 to 25; itself included`),
	sql: (parameter) =>
		`t.${column} ${end === "least" ? ">=" : "<="} ${parameter}`,
});

/** Largest likelihood, and largest impact. */
const MOST = 5;

/**
 * Orders by a score. With a filter by likelihood or impact, only some scores are possible. Without
 * these bounds, PostgreSQL would read all risks with a greater score before the first one.
 */
function byRiskScore(moment: "inherent" | "residual"): Order {
	const order = byScore(`${moment}_risk_score`);
	return {
		...order,
		implied: (filter, parameter) => {
			const factors = ["likelihood", "impact"].flatMap((name) => {
				const value = filter[`${moment}_${name}`];
				return typeof value === "number" ? [value] : [];
			});
			if (factors.length === 0) return [];
			const least = factors.reduce((product, factor) => product * factor);
			const greatest = least * MOST ** (2 - factors.length);
			return [
				`${order.expression} between ${parameter(least)} and ${parameter(greatest)}`,
			];
		},
	};
}

/** The register Risks. The database computes the scores, so they are right in every response. */
export const risk = recordKind({
	kind: "risk",
	table: "risks",
	tool: { one: "Risk", many: "Risks" },
	key: { one: "risk", many: "risks" },
	noun: "risk",
	nouns: "risks",
	help: "A risk is what could happen, with its likelihood and impact before (inherent) and after (residual) treatment. A score is likelihood × impact, 1 to 25.",
	description:
		"A risk is what could happen, with its likelihood and impact before (inherent) and after (residual) treatment. A risk has a treatment and no status: nothing says that it is closed.",
	title: "name",
	beside: ["category", "owner_id"],
	isLinkable: true,
	fields: {
		name: requiredName("Risk in a few words"),
		description: optionalText("Risk in full"),
		category: requiredName("Area, such as Security or Legal"),
		treatment: requiredChoice(
			["MITIGATED", "ACCEPTED", "AVOIDED", "TRANSFERRED"],
			"Treatment",
		),
		inherent_likelihood: requiredScale("Likelihood before treatment"),
		inherent_impact: requiredScale("Impact before treatment"),
		residual_likelihood: optionalScale(
			"Likelihood after treatment; defaults to the inherent likelihood",
		),
		residual_impact: optionalScale(
			"Impact after treatment; defaults to the inherent impact",
		),
		inherent_risk_score: computedInteger(
			"Likelihood × impact before treatment",
		),
		residual_risk_score: computedInteger("Likelihood × impact after treatment"),
		note: optionalText("Note"),
		owner_id: owner(),
		next_review_date: optionalDate("Date of the next review"),
		accepted_until: optionalDate({
			help: "Last day for which an accepted risk is accepted",
			description: "Last day, if ACCEPTED",
		}),
		archived_at: archivedField(),
	},
	brief: [
		"name",
		"category",
		"treatment",
		"inherent_risk_score",
		"residual_risk_score",
		"owner_id",
		"next_review_date",
	],
	derived: {
		is_undecided: {
			sql: IS_UNDECIDED_SQL,
			output: z
				.boolean()
				.describe(
					"Suggested by Assay, and nobody has decided about it: its treatment says nothing. Giving a treatment decides",
				),
			isBrief: true,
		},
	},
	orders: {
		name: byText("name"),
		inherent_risk_score: byRiskScore("inherent"),
		residual_risk_score: byRiskScore("residual"),
		next_review_date: byDate("next_review_date"),
	},
	filters: [
		"treatment",
		"category",
		"owner_id",
		"inherent_likelihood",
		"inherent_impact",
		"residual_likelihood",
		"residual_impact",
	],
	reminders: ["next_review_date", "accepted_until"],
	remindedIf: { accepted_until: { field: "treatment", value: "ACCEPTED" } },
	otherFilters: {
		min_inherent_risk_score: scoreFilter(
			"inherent_risk_score",
			"least",
			"Least",
		),
		max_inherent_risk_score: scoreFilter(
			"inherent_risk_score",
			"greatest",
			"Greatest",
		),
		min_residual_risk_score: scoreFilter(
			"residual_risk_score",
			"least",
			"Least",
		),
		max_residual_risk_score: scoreFilter(
			"residual_risk_score",
			"greatest",
			"Greatest",
		),
		is_undecided: {
			schema: z
				.boolean()
				.meta(
					described(
						"Suggested by Assay, and nobody has decided about it",
						"nothing",
					),
				),
			sql: (parameter) => `(${IS_UNDECIDED_SQL}) = ${parameter}`,
			flag: {
				true: IS_UNDECIDED_SQL,
				false: `not (${IS_UNDECIDED_SQL})`,
			},
		},
		is_accepted: {
			schema: z
				.boolean()
				.meta(
					described(
						"true: the treatment is ACCEPTED; false: somebody has decided on another treatment",
						"nothing",
					),
				),
			sql: (parameter) =>
				`case when ${parameter} then ${IS_ACCEPTED_SQL} else ${IS_DECIDED_OTHERWISE_SQL} end`,
			flag: { true: IS_ACCEPTED_SQL, false: IS_DECIDED_OTHERWISE_SQL },
		},
	},
	follow: followTreatment,
	csv: undecidedInCsv,
	complete: (given) => ({
		...given,
		residual_likelihood: given.residual_likelihood ?? given.inherent_likelihood,
		residual_impact: given.residual_impact ?? given.inherent_impact,
	}),
});
