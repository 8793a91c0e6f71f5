import type { LayoutsOf } from "../register-layouts.ts";
import { NEWEST, OPEN_FIRST } from "../register-orders.ts";

export const comply: LayoutsOf<"Comply"> = {
	framework: {
		columns: ["name", "version", "description", "updated_at"],
		order: { field: "name", direction: "asc" },
		sections: [
			{ title: "Framework", fields: ["name", "version", "description"] },
		],
	},
	control: {
		columns: ["name", "section_title", "framework_id", "status", "updated_at"],
		order: { field: "name", direction: "asc" },
		sections: [
			{
				title: "Control",
				fields: [
					"name",
					"section_title",
					"framework_id",
					"tested_by_checks",
					"description",
				],
			},
			{
				title: "Applicability",
				fields: [
					"status",
					"inclusion_justification",
					"exclusion_justification",
				],
			},
		],
	},
	obligation: {
		columns: [
			"requirement",
			"source",
			"type",
			"status",
			"owner_id",
			"due_date",
		],
		order: OPEN_FIRST,
		sections: [
			{
				title: "Obligation",
				fields: ["requirement", "type", "source", "area", "regulator"],
			},
			{
				title: "Fulfillment",
				fields: [
					"status",
					"owner_id",
					"due_date",
					"last_review_date",
					"next_review_date",
					"actions_to_be_implemented",
				],
			},
		],
	},
	audit: {
		columns: [
			"name",
			"framework_id",
			"audit_type",
			"state",
			"starts_on",
			"valid_until",
			"owner_id",
		],
		order: NEWEST,
		sections: [
			{
				title: "Audit",
				fields: [
					"name",
					"framework_id",
					"audit_type",
					"auditor",
					"owner_id",
					"starts_on",
					"ends_on",
					"scope",
				],
			},
			{ title: "Result", fields: ["state", "valid_from", "valid_until"] },
		],
	},
	document: {
		columns: [
			"title",
			"document_type",
			"classification",
			"next_review_on",
			"owner_id",
			"updated_at",
		],
		order: NEWEST,
		sections: [
			{
				title: "Document",
				fields: [
					"title",
					"document_type",
					"classification",
					"owner_id",
					"description",
				],
			},
			{
				title: "Approval and review",
				fields: ["approver_ids", "review_interval_months", "next_review_on"],
			},
		],
	},
	evidence: {
		columns: ["name", "valid_until", "owner_id", "url", "updated_at"],
		order: NEWEST,
		sections: [
			{
				title: "Evidence",
				fields: ["name", "owner_id", "valid_until", "url", "description"],
			},
		],
	},
};
