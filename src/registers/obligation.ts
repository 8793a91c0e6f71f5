import {
	choice,
	optionalDate,
	optionalName,
	optionalText,
	owner,
	requiredText,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byDate, byText } from "../records/list-pages.ts";

export const obligation = recordKind({
	kind: "obligation",
	table: "obligations",
	tool: { one: "Obligation", many: "Obligations" },
	key: { one: "obligation", many: "obligations" },
	noun: "obligation",
	nouns: "obligations",
	help: "An obligation is a requirement of a law or contract that the organization has to meet.",
	title: "requirement",
	isLinkable: true,
	fields: {
		source: optionalName("Law or contract that imposes the obligation"),
		area: optionalName("Area, such as Privacy"),
		requirement: requiredText("Requirement"),
		actions_to_be_implemented: optionalText("Actions still to be taken"),
		regulator: optionalName("Authority that supervises it"),
		type: choice(["LEGAL", "CONTRACTUAL"], "Legal or contractual", "LEGAL"),
		owner_id: owner(),
		last_review_date: optionalDate("Date of the last review"),
		next_review_date: optionalDate("Date of the next review"),
		due_date: optionalDate("Due date"),
		status: choice(
			["NON_COMPLIANT", "PARTIALLY_COMPLIANT", "COMPLIANT"],
			"Compliance",
			"NON_COMPLIANT",
		),
	},
	brief: ["requirement", "area", "type", "status", "due_date", "owner_id"],
	orders: {
		requirement: byText("requirement"),
		due_date: byDate("due_date"),
	},
	filters: ["status", "type", "owner_id"],
	reminders: ["next_review_date"],
	due: { date: "due_date", done: { field: "status", value: "COMPLIANT" } },
});
