import {
	choice,
	optionalDate,
	optionalName,
	optionalText,
	owner,
	referenceId,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byDate, byText } from "../records/list-pages.ts";

export const continualImprovement = recordKind({
	kind: "continual_improvement",
	table: "continual_improvements",
	tool: { one: "ContinualImprovement", many: "ContinualImprovements" },
	key: { one: "continual_improvement", many: "continual_improvements" },
	noun: "continual improvement",
	nouns: "continual improvements",
	about:
		"A continual improvement is a change for the better of the management system.",
	title: "reference_id",
	fields: {
		reference_id: referenceId("CI"),
		description: optionalText("What is to become better"),
		source: optionalName("Where the idea comes from"),
		owner_id: owner(),
		target_date: optionalDate("Day by which it is to be done, YYYY-MM-DD"),
		status: choice(["OPEN", "IN_PROGRESS", "CLOSED"], "How far it is"),
		priority: choice(["LOW", "MEDIUM", "HIGH"], "How much it matters"),
	},
	orders: {
		reference_id: byText("reference_id"),
		target_date: byDate("target_date"),
	},
	filters: ["status", "priority", "owner_id"],
	due: { date: "target_date", done: { field: "status", value: "CLOSED" } },
	referencePrefix: "CI",
});
