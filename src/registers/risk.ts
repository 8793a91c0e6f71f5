import { z } from "zod";
import {
	computedInteger,
	optionalInteger,
	optionalText,
	owner,
	requiredChoice,
	requiredInteger,
	requiredName,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byInteger, byText, type Filter } from "../records/list-pages.ts";

const SCALE = "1 (lowest) to 5 (highest)";

const scoreFilter = (
	column: string,
	comparison: ">=" | "<=",
	word: string,
): Filter => ({
	schema: z
		.int()
		.min(1)
		.max(25)
		.describe(`${word} ${column.replaceAll("_", " ")}, 1 to 25`),
	sql: (parameter) => `t.${column} ${comparison} ${parameter}`,
});

/** A score is likelihood times impact, worked out by the database, so it is right in every reply. */
export const risk = recordKind({
	kind: "risk",
	table: "risks",
	tool: { one: "Risk", many: "Risks" },
	key: { one: "risk", many: "risks" },
	noun: "risk",
	nouns: "risks",
	about:
		"A risk says what could happen, how likely and how bad it is before (inherent) and after (residual) treatment; scores are likelihood × impact, 1 to 25.",
	title: "name",
	fields: {
		name: requiredName("What could happen, in a few words"),
		description: optionalText("The risk in full"),
		category: requiredName("Area it belongs to, such as Security or Legal"),
		treatment: requiredChoice(
			["MITIGATED", "ACCEPTED", "AVOIDED", "TRANSFERRED"],
			"How it is dealt with",
		),
		inherent_likelihood: requiredInteger(
			1,
			5,
			`Likelihood before treatment, ${SCALE}`,
		),
		inherent_impact: requiredInteger(1, 5, `Impact before treatment, ${SCALE}`),
		residual_likelihood: optionalInteger(
			1,
			5,
			`Likelihood after treatment, ${SCALE}; the inherent one unless given on add`,
		),
		residual_impact: optionalInteger(
			1,
			5,
			`Impact after treatment, ${SCALE}; the inherent one unless given on add`,
		),
		inherent_risk_score: computedInteger(
			"inherent_likelihood × inherent_impact",
		),
		residual_risk_score: computedInteger(
			"residual_likelihood × residual_impact",
		),
		note: optionalText("Anything else"),
		owner_id: owner(),
	},
	orders: {
		name: byText("name"),
		inherent_risk_score: byInteger("inherent_risk_score"),
		residual_risk_score: byInteger("residual_risk_score"),
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
	otherFilters: {
		min_inherent_risk_score: scoreFilter("inherent_risk_score", ">=", "Least"),
		max_inherent_risk_score: scoreFilter(
			"inherent_risk_score",
			"<=",
			"Greatest",
		),
		min_residual_risk_score: scoreFilter("residual_risk_score", ">=", "Least"),
		max_residual_risk_score: scoreFilter(
			"residual_risk_score",
			"<=",
			"Greatest",
		),
	},
	complete: (given) => ({
		...given,
		residual_likelihood: given.residual_likelihood ?? given.inherent_likelihood,
		residual_impact: given.residual_impact ?? given.inherent_impact,
	}),
});
