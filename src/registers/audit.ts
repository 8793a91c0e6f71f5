import {
	choice,
	datesInOrder,
	optionalDate,
	optionalName,
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
	about:
		"An audit is an examination against a framework; the log of who changed what is listAuditLog.",
	title: "name",
	fields: {
		framework_id: requiredReference("framework", "Framework audited against"),
		name: optionalName("What it is called"),
		valid_from: optionalDate("First day its result holds, YYYY-MM-DD"),
		valid_until: optionalDate("Last day its result holds, YYYY-MM-DD"),
		state: choice(
			["NOT_STARTED", "IN_PROGRESS", "COMPLETED", "REJECTED", "OUTDATED"],
			"How far it is",
		),
	},
	orders: {
		valid_from: byDate("valid_from"),
		valid_until: byDate("valid_until"),
	},
	filters: ["framework_id", "state"],
	check: datesInOrder("valid_from", "valid_until"),
});
