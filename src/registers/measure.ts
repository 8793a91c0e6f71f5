import { z } from "zod";
import {
	isContradictedSql,
	measurePercentSql,
	VERIFICATIONS,
	verificationSql,
} from "../devices/check-results/verification.ts";
import { archivedField } from "../records/archived-field.ts";
import {
	choice,
	optionalCheck,
	optionalText,
	owner,
	PROGRESS,
	percent,
	requiredName,
} from "../records/field.ts";
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
	isLinkable: true,
	fields: {
		name: requiredName("Measure in a few words"),
		description: optionalText("How the measure works"),
		category: requiredName("Area, such as Access control"),
		state: choice(
			["NOT_STARTED", "IN_PROGRESS", "IMPLEMENTED", "NOT_APPLICABLE"],
			PROGRESS,
			"NOT_STARTED",
		),
		owner_id: owner(),
		verified_by_check: optionalCheck({
			help: "Device check that shows whether it works",
			description: "Device check that shows whether it works, by key or name",
		}),
		verified_by_percent: percent(
			100,
			"Share of the devices that must pass the check, in percent",
		),
		archived_at: archivedField(),
	},
	derived: {
		is_contradicted: {
			sql: isContradictedSql("t"),
			output: z
				.boolean()
				.describe("IMPLEMENTED, but its check does not show it"),
			isBrief: true,
		},
		verification: {
			sql: verificationSql("t"),
			output: z
				.enum(VERIFICATIONS)
				.nullable()
				.describe("What its check says; null: no check verifies it"),
			isBrief: false,
		},
		pass_percent: {
			sql: measurePercentSql("t"),
			output: z
				.number()
				.nullable()
				.describe("Devices that pass its check, as in getCheckResults"),
			isBrief: false,
		},
	},
	brief: ["name", "category", "state", "owner_id"],
	orders: { name: byText("name") },
	filters: ["state", "category", "owner_id", "verified_by_check"],
	otherFilters: {
		is_contradicted: {
			schema: z
				.boolean()
				.describe("IMPLEMENTED, but its verified_by_check does not show it"),
			sql: (parameter) => `${isContradictedSql("t")} = ${parameter}`,
			flag: {
				true: isContradictedSql("t"),
				false: `not ${isContradictedSql("t")}`,
			},
		},
	},
});
