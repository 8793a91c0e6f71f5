import {
	choice,
	optionalDate,
	optionalReference,
	optionalText,
	owner,
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
	about:
		"A nonconformity is a requirement that is not met, with its cause and correction.",
	title: "reference_id",
	fields: {
		reference_id: referenceId("NC"),
		description: optionalText("What is not as required"),
		audit_id: optionalReference("audit", "Audit that found it"),
		date_identified: optionalDate("Day it was found, YYYY-MM-DD"),
		root_cause: optionalText("Why it happened"),
		corrective_action: optionalText("What is done so that it ends"),
		owner_id: owner(),
		due_date: optionalDate("Day by which it is to be closed, YYYY-MM-DD"),
		status: choice(["OPEN", "IN_PROGRESS", "CLOSED"], "How far it is"),
		effectiveness_check: optionalText(
			"How it was verified that the action works",
		),
		severity: choice(["MINOR", "MAJOR"], "How serious it is"),
	},
	orders: {
		reference_id: byText("reference_id"),
		due_date: byDate("due_date"),
	},
	filters: ["status", "severity", "owner_id", "audit_id"],
	due: { date: "due_date", done: { field: "status", value: "CLOSED" } },
	referencePrefix: "NC",
});
