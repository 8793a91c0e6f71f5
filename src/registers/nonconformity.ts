import {
	choice,
	optionalDate,
	optionalName,
	optionalReference,
	optionalText,
	owner,
	PROGRESS,
	referenceId,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byDate, byText } from "../records/list-pages.ts";

export const nonconformity = recordKind({
	kind: "nonconformity",
	table: "nonconformities",
	tool: { one: "Nonconformity", many: "Nonconformities" },
	key: { one: "nonconformity", many: "nonconformities" },
	noun: "nonconformity",
	nouns: "nonconformities",
	help: "A nonconformity is an unmet requirement, with its cause and correction.",
	title: "reference_id",
	subject: ["title", "description"],
	isLinkable: true,
	fields: {
		reference_id: referenceId("NC"),
		title: optionalName("Nonconformity in a few words"),
		description: optionalText("What does not meet the requirement"),
		audit_id: optionalReference("audit", "Audit that found it"),
		date_identified: optionalDate("Date on which it was found"),
		root_cause: optionalText("Cause"),
		corrective_action: optionalText("Action that removes the cause"),
		owner_id: owner(),
		due_date: optionalDate("Due date"),
		status: choice(["OPEN", "IN_PROGRESS", "CLOSED"], PROGRESS, "OPEN"),
		effectiveness_check: optionalText(
			"How the effect of the action was checked",
		),
		severity: choice(["MINOR", "MAJOR"], "Severity", "MINOR"),
	},
	brief: [
		"reference_id",
		"title",
		"description",
		"severity",
		"status",
		"due_date",
		"owner_id",
	],
	orders: {
		reference_id: byText("reference_id"),
		due_date: byDate("due_date"),
	},
	filters: ["status", "severity", "owner_id", "audit_id"],
	due: { date: "due_date", done: { field: "status", value: "CLOSED" } },
	referencePrefix: "NC",
});
