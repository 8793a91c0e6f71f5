import {
	choice,
	datesInOrder,
	optionalDate,
	optionalName,
	optionalReference,
	optionalText,
	PROGRESS,
	requiredReference,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byDate } from "../records/list-pages.ts";

export const audit = recordKind({
	kind: "audit",
	table: "audits",
	tool: { one: "Audit", many: "Audits" },
	key: { one: "audit", many: "audits" },
	noun: "audit",
	nouns: "audits",
	help: "An audit is an examination against a framework.",
	description:
		"An audit is an examination against a framework. The log of who changed what is listAuditLog.",
	title: "name",
	beside: ["framework_id", "state", "starts_on"],
	isLinkable: true,
	fields: {
		framework_id: requiredReference(
			"framework",
			"Framework that the audit is against",
		),
		name: optionalName("Name of the audit"),
		// The value of audits from before this field.
		audit_type: choice(
			["NOT_STATED", "INTERNAL", "EXTERNAL"],
			{ help: "Whether the organization audits itself", description: "Type" },
			"NOT_STATED",
		),
		auditor: optionalName({
			help: "Person or firm that audits",
			description: "Auditor",
		}),
		owner_id: optionalReference("people", {
			help: "Person who leads it here",
			description: "Lead",
		}),
		scope: optionalText({ help: "What it examines", description: "Scope" }),
		starts_on: optionalDate("Starts on"),
		ends_on: optionalDate("Ends on"),
		valid_from: optionalDate("First day on which its result is valid"),
		valid_until: optionalDate("Last day on which its result is valid"),
		state: choice(
			["NOT_STARTED", "IN_PROGRESS", "COMPLETED", "REJECTED", "OUTDATED"],
			PROGRESS,
			"NOT_STARTED",
		),
	},
	brief: [
		"name",
		"framework_id",
		"audit_type",
		"state",
		"starts_on",
		"valid_from",
		"valid_until",
		"owner_id",
	],
	orders: {
		starts_on: byDate("starts_on"),
		valid_from: byDate("valid_from"),
		valid_until: byDate("valid_until", "valid_from"),
	},
	filters: ["framework_id", "audit_type", "state", "owner_id"],
	reminders: ["starts_on", "valid_until"],
	remindedIf: {
		starts_on: { field: "state", value: "NOT_STARTED" },
		valid_until: { field: "state", value: "COMPLETED" },
	},
	check: (record) => [
		...datesInOrder("starts_on", "ends_on")(record),
		...datesInOrder("valid_from", "valid_until")(record),
	],
});
