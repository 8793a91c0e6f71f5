import { z } from "zod";
import { checksOfAnyControl } from "../devices/check-controls.ts";
import {
	choice,
	optionalChecks,
	optionalText,
	requiredName,
	requiredReference,
} from "../records/field.ts";
import { recordKind } from "../records/kind.ts";
import { byText } from "../records/list-pages.ts";

export const control = recordKind({
	kind: "control",
	table: "controls",
	tool: { one: "Control", many: "Controls" },
	key: { one: "control", many: "controls" },
	noun: "control",
	nouns: "controls",
	help: "A control is one requirement of a framework.",
	title: "name",
	beside: ["section_title", "framework_id"],
	isLinkable: true,
	fields: {
		framework_id: requiredReference(
			"framework",
			"Framework that it belongs to",
		),
		section_title: requiredName("Section of the framework, such as A.5.1"),
		name: requiredName("Requirement in a few words"),
		description: optionalText("Requirement in full"),
		status: choice(
			["INCLUDED", "EXCLUDED"],
			"Whether it applies to the organization",
			"INCLUDED",
		),
		inclusion_justification: optionalText({
			help: "Why it applies, such as a risk that it treats, a law or a contract",
			description:
				"Why it applies, if INCLUDED; the statement also names its risks and obligations",
		}),
		exclusion_justification: optionalText({
			help: "Why it does not apply; required when excluded",
			description: "Why it does not apply; required when EXCLUDED",
		}),
		tested_by_checks: optionalChecks({
			help: "Device checks that test it. If nobody chooses, its number in the framework decides",
			description:
				"Keys of device checks that test it; null: its number in the framework decides",
		}),
	},
	derived: {
		checks: {
			sql: checksOfAnyControl("t"),
			output: z
				.array(z.string())
				.describe(
					"Device checks that test it; getCheckResults has their results",
				),
			isBrief: false,
		},
	},
	brief: ["section_title", "name", "status", "framework_id"],
	orders: { name: byText("name"), section_title: byText("section_title") },
	filters: ["framework_id", "status"],
	check: (record) =>
		record.status === "EXCLUDED" &&
		!String(record.exclusion_justification ?? "").trim()
			? [
					{
						field: "exclusion_justification",
						message: "is required when status is EXCLUDED",
					},
				]
			: [],
});
