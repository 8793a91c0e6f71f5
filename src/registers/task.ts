import {
	choice,
	optionalDate,
	optionalReference,
	optionalText,
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
	about: "A task is a piece of work, often for a measure.",
	title: "name",
	fields: {
		name: requiredName("What is to be done"),
		description: optionalText("The task in full"),
		state: choice(["TODO", "IN_PROGRESS", "DONE"], "How far it is"),
		priority: choice(
			["URGENT", "HIGH", "MEDIUM", "LOW"],
			"How soon it has to be done",
		),
		measure_id: optionalReference("measure", "Measure it is for"),
		assigned_to_id: optionalReference("people", "Person who does it"),
		deadline: optionalDate("Day by which it is to be done, YYYY-MM-DD"),
	},
	orders: { name: byText("name"), deadline: byDate("deadline") },
	filters: ["state", "priority", "measure_id", "assigned_to_id"],
	due: { date: "deadline", done: { field: "state", value: "DONE" } },
});
