import {
	choice,
	optionalDate,
	optionalName,
	optionalText,
	owner,
	PROGRESS,
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
	help: "A continual improvement makes the management system better.",
	title: "reference_id",
	subject: ["description"],
	fields: {
		reference_id: referenceId("CI"),
		description: optionalText("What will improve"),
		source: optionalName("Source of the idea"),
		owner_id: owner(),
		target_date: optionalDate("Due date"),
		status: choice(["OPEN", "IN_PROGRESS", "CLOSED"], PROGRESS, "OPEN"),
		priority: choice(["LOW", "MEDIUM", "HIGH"], "Importance", "MEDIUM"),
	},
	brief: [
		"reference_id",
		"description",
		"priority",
		"status",
		"target_date",
		"owner_id",
	],
	orders: {
		reference_id: byText("reference_id"),
		target_date: byDate("target_date"),
	},
	filters: ["status", "priority", "owner_id"],
	due: { date: "target_date", done: { field: "status", value: "CLOSED" } },
	referencePrefix: "CI",
});
