import type { LayoutsOf } from "../register-layouts.ts";
import { OPEN_FIRST } from "../register-orders.ts";

export const work: LayoutsOf<"Work"> = {
	task: {
		columns: ["name", "state", "priority", "assigned_to_id", "deadline"],
		order: OPEN_FIRST,
		sections: [
			{
				title: "Task",
				fields: [
					"name",
					"state",
					"priority",
					"assigned_to_id",
					"deadline",
					"measure_id",
					"description",
				],
			},
		],
	},
	nonconformity: {
		columns: ["reference_id", "severity", "status", "owner_id", "due_date"],
		order: OPEN_FIRST,
		sections: [
			{
				title: "What was found",
				fields: [
					"reference_id",
					"title",
					"severity",
					"audit_id",
					"date_identified",
					"description",
				],
			},
			{
				title: "Cause and correction",
				fields: ["root_cause", "corrective_action", "effectiveness_check"],
			},
			{ title: "Follow-up", fields: ["status", "owner_id", "due_date"] },
		],
	},
	continual_improvement: {
		columns: ["reference_id", "status", "priority", "owner_id", "target_date"],
		order: OPEN_FIRST,
		sections: [
			{
				title: "Improvement",
				fields: ["reference_id", "source", "description"],
			},
			{
				title: "Follow-up",
				fields: ["status", "priority", "owner_id", "target_date"],
			},
		],
	},
};
