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
	about:
		"A measure is something done to reduce risks and to meet controls; link it to both with linkRecords.",
	title: "name",
	fields: {
		name: requiredName("What is done"),
		description: optionalText("How it is done"),
		category: requiredName("Area it belongs to, such as Access control"),
		state: choice(
			["NOT_STARTED", "IN_PROGRESS", "IMPLEMENTED", "NOT_APPLICABLE"],
			"How far it is",
		),
		owner_id: owner(),
	},
	orders: { name: byText("name") },
	filters: ["state", "category", "owner_id"],
});
