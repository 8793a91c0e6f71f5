import {
	choice,
	optionalDate,
	optionalReference,
	optionalText,
	PROGRESS,
	requiredName,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byDate, byText } from "../records/list-pages.ts";

export const task = recordKind({
	kind: "task",
	table: "tasks",
	tool: { one: "Task", many: "Tasks" },
	key: { one: "task", many: "tasks" },
	noun: "task",
	nouns: "tasks",
	help: "A task is a piece of work, often for a measure.",
	title: "name",
	isLinkable: true,
	fields: {
		name: requiredName("Task in a few words"),
		description: optionalText("What has to be done"),
		state: choice(["TODO", "IN_PROGRESS", "DONE"], PROGRESS, "TODO"),
		priority: choice(
			["URGENT", "HIGH", "MEDIUM", "LOW"],
			{ help: "", description: "Urgency" },
			"MEDIUM",
		),
		measure_id: optionalReference("measure", "Measure that it belongs to"),
		assigned_to_id: optionalReference("people", "Person who does the task"),
		deadline: optionalDate("Due date"),
	},
	brief: [
		"name",
		"state",
		"priority",
		"deadline",
		"measure_id",
		"assigned_to_id",
	],
	orders: { name: byText("name"), deadline: byDate("deadline") },
	filters: ["state", "priority", "measure_id", "assigned_to_id"],
	due: { date: "deadline", done: { field: "state", value: "DONE" } },
});
