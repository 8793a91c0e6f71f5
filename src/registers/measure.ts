import { choice, optionalText, owner, requiredName } from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byText } from "../records/list-pages.ts";

export const measure = recordKind({
	kind: "measure",
	table: "measures",
	tool: { one: "Measure", many: "Measures" },
	key: { one: "measure", many: "measures" },
	noun: "measure",
	nouns: "measures",
	help: "A measure is what the organization does to reduce risks and to meet controls.",
	description:
		"A measure is what the organization does to reduce risks and to meet controls; link it to both with linkRecords.",
	title: "name",
	fields: {
		name: requiredName("Measure in a few words"),
		description: optionalText("How the measure works"),
		category: requiredName("Area, such as Access control"),
		state: choice(
			["NOT_STARTED", "IN_PROGRESS", "IMPLEMENTED", "NOT_APPLICABLE"],
			"Progress",
			"NOT_STARTED",
		),
		owner_id: owner(),
	},
	brief: ["name", "category", "state", "owner_id"],
	orders: { name: byText("name") },
	filters: ["state", "category", "owner_id"],
});
