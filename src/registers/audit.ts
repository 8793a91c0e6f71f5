import {
	choice,
	datesInOrder,
	optionalDate,
	optionalName,
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
	beside: ["framework_id", "state", "valid_from"],
	fields: {
		framework_id: requiredReference(
			"framework",
			"Framework that the audit is against",
		),
		name: optionalName("Name of the audit"),
		valid_from: optionalDate("First day on which its result is valid"),
		valid_until: optionalDate("Last day on which its result is valid"),
		state: choice(
			["NOT_STARTED", "IN_PROGRESS", "COMPLETED", "REJECTED", "OUTDATED"],
			PROGRESS,
			"NOT_STARTED",
		),
	},
	brief: ["name", "framework_id", "state", "valid_from", "valid_until"],
	orders: {
		valid_from: byDate("valid_from"),
		valid_until: byDate("valid_until"),
	},
	filters: ["framework_id", "state"],
	check: datesInOrder("valid_from", "valid_until"),
});
