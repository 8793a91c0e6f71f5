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
	about:
		"An obligation is something that a law or contract requires of the organization.",
	title: "requirement",
	fields: {
		source: optionalName("Law or contract it comes from"),
		area: optionalName("Area it belongs to, such as Privacy"),
		requirement: requiredText("What is required"),
		actions_to_be_implemented: optionalText("What is still to be done"),
		regulator: optionalName("Who watches over it"),
		type: choice(["LEGAL", "CONTRACTUAL"], "Where it comes from"),
		owner_id: owner(),
		last_review_date: optionalDate("Day it was last reviewed, YYYY-MM-DD"),
		due_date: optionalDate("Day by which it is to be met, YYYY-MM-DD"),
		status: choice(
			["NON_COMPLIANT", "PARTIALLY_COMPLIANT", "COMPLIANT"],
			"Whether it is met",
		),
	},
	orders: {
		requirement: byText("requirement"),
		due_date: byDate("due_date"),
	},
	filters: ["status", "type", "owner_id"],
	due: { date: "due_date", done: { field: "status", value: "COMPLIANT" } },
});
