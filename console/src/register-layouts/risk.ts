import type { LayoutsOf } from "../register-layouts.ts";

export const risk: LayoutsOf<"Risk"> = {
	risk: {
		columns: [
			"name",
			"inherent_risk_score",
			"residual_risk_score",
			"category",
			"treatment",
			"owner_id",
			"updated_at",
		],
		order: { field: "residual_risk_score", direction: "desc" },
		sections: [
			{
				title: "Risk",
				fields: [
					"name",
					"category",
					"owner_id",
					"treatment",
					"description",
					"note",
				],
			},
			{
				title: "Inherent risk, before treatment",
				fields: [
					"inherent_likelihood",
					"inherent_impact",
					"inherent_risk_score",
				],
			},
			{
				title: "Residual risk, after treatment",
				fields: [
					"residual_likelihood",
					"residual_impact",
					"residual_risk_score",
				],
			},
			{ title: "Review", fields: ["next_review_date", "accepted_until"] },
		],
	},
	measure: {
		columns: ["name", "category", "state", "owner_id", "updated_at"],
		order: { field: "name", direction: "asc" },
		sections: [
			{
				title: "Measure",
				fields: ["name", "category", "state", "owner_id", "description"],
			},
			{
				title: "Verification by devices",
				fields: ["verified_by_check", "verified_by_percent"],
			},
		],
	},
};
