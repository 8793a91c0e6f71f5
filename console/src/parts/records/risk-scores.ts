import type { FieldName } from "../../kinds.ts";

type RiskField = FieldName<"risk">;

/** The two factors of each score, a likelihood and an impact. The score is their product. */
export const SCORES = {
	inherent_risk_score: ["inherent_likelihood", "inherent_impact"],
	residual_risk_score: ["residual_likelihood", "residual_impact"],
} as const satisfies Partial<
	Record<RiskField, readonly [RiskField, RiskField]>
>;

export const MAX_SCORE = 25;

/** Says which risks the numbers by level count. */
export const COUNTED_RISKS =
	"All risks, also accepted ones and suggested ones that wait for a decision.";

export interface Band {
	id: "low" | "medium" | "high" | "critical";
	label: string;
	min: number;
	max: number;
	/** The background and the text color have a contrast of more than 4.5 : 1. */
	background: string;
	color: string;
}

export const BANDS: readonly Band[] = [
	{
		id: "low",
		label: "Low",
		min: 1,
		max: 4,
		background: "#237a37",
		color: "#ffffff",
	},
	{
		id: "medium",
		label: "Medium",
		min: 5,
		max: 9,
		background: "#ffd43b",
		color: "#1b1c1f",
	},
	{
		id: "high",
		label: "High",
		min: 10,
		max: 14,
		background: "#c2410c",
		color: "#ffffff",
	},
	{
		id: "critical",
		label: "Critical",
		min: 15,
		max: MAX_SCORE,
		background: "#a61e1e",
		color: "#ffffff",
	},
];

export function bandOf(score: number): Band | undefined {
	return BANDS.find(({ min, max }) => score >= min && score <= max);
}

/** Returns the two fields whose product is the score `fieldName`. */
export function factorsOf(
	fieldName: string,
): readonly [string, string] | undefined {
	return (SCORES as Record<string, readonly [string, string] | undefined>)[
		fieldName
	];
}
