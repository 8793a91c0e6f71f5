import { z } from "zod";
import { badFields, type FieldIssue } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { addChosen } from "./add-starters.ts";
import { STARTER_FRAMEWORKS } from "./all.ts";
import { findStarters } from "./find-starters.ts";
import { STARTER_MEASURES } from "./measures.ts";
import { STARTER_RISKS } from "./risks.ts";

const MAX_CHOSEN = 200;
const FRAMEWORKS = STARTER_FRAMEWORKS.map(({ key }) => key) as [
	string,
	...string[],
];

const isThere = z
	.boolean()
	.describe("The organization has a record with this name");

const listed = {
	key: z.string(),
	name: z.string(),
	category: z.string(),
	description: z.string(),
	is_there: isThere,
};

export const listStarters = defineOperation({
	name: "listStarters",
	title: "List starter records",
	description:
		"List frameworks, measures and risks that a new organization can begin with, and the controls of one framework.",
	toolset: "starters",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		framework: z
			.enum(FRAMEWORKS)
			.optional()
			.describe("Also list the controls of this framework"),
	}),
	output: z.object({
		frameworks: z.array(
			z.object({
				key: z.string(),
				name: z.string(),
				version: z.string().nullable(),
				description: z.string(),
				controls: z.int(),
				framework_id: z
					.string()
					.nullable()
					.describe("The organization's own one; null if it has none"),
			}),
		),
		controls: z.array(
			z.object({
				number: z.string(),
				section_title: z.string(),
				name: z.string(),
				measures: z.array(z.string()).describe("Keys of measures that help"),
				is_there: isThere,
			}),
		),
		measures: z.array(z.object(listed)),
		risks: z.array(
			z.object({
				...listed,
				inherent_likelihood: z.int(),
				inherent_impact: z.int(),
				measures: z.array(z.string()).describe("Keys of measures that help"),
			}),
		),
	}),
	run: async ({ client, membership }, input) => {
		const there = await findStarters(client, membership.organizationId);
		const chosen = STARTER_FRAMEWORKS.find(
			({ key }) => key === input.framework,
		);
		return {
			frameworks: STARTER_FRAMEWORKS.map(({ controls, ...framework }) => ({
				...framework,
				controls: controls.length,
				framework_id: there.frameworks.get(framework.key) ?? null,
			})),
			controls: (chosen?.controls ?? []).map((control) => ({
				number: control.number,
				section_title: control.section,
				name: control.name,
				measures: [...control.measures],
				is_there:
					there.controls.get(chosen?.key ?? "")?.has(control.number) ?? false,
			})),
			measures: STARTER_MEASURES.map((measure) => ({
				...measure,
				is_there: there.measures.has(measure.key),
			})),
			risks: STARTER_RISKS.map(({ inherent, measures, ...risk }) => ({
				...risk,
				inherent_likelihood: inherent[0],
				inherent_impact: inherent[1],
				measures: [...measures],
				is_there: there.risks.has(risk.key),
			})),
		};
	},
});

const chosen = () =>
	z.array(z.string().max(50)).max(MAX_CHOSEN, { abort: true });

export const addStarters = defineOperation({
	name: "addStarters",
	title: "Add starter records",
	description:
		"Add records of listStarters to an organization: a framework with controls, measures and risks, linked to each other. All are added or, if a key is wrong, none. What is there already stays as it is.",
	toolset: "starters",
	access: "write",
	isIdempotent: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		framework: z.enum(FRAMEWORKS).optional().describe("Key of a framework"),
		controls: chosen()
			.optional()
			.describe("Numbers of its controls; all by default"),
		measures: chosen().optional().describe("Keys of measures"),
		risks: chosen().optional().describe("Keys of risks"),
	}),
	output: z.object({
		framework_id: z.string().nullable(),
		added: z.object({
			controls: z.int(),
			measures: z.int(),
			risks: z.int(),
			links: z.int(),
		}),
	}),
	run: (context, input) => {
		const framework = STARTER_FRAMEWORKS.find(
			({ key }) => key === input.framework,
		);
		const numbers = framework?.controls.map(({ number }) => number) ?? [];
		const keysOf = (all: readonly { key: string }[]) =>
			all.map(({ key }) => key);
		const { controls = numbers, measures = [], risks = [] } = input;
		const issues = [
			...unknown("controls", controls, numbers),
			...unknown("measures", measures, keysOf(STARTER_MEASURES)),
			...unknown("risks", risks, keysOf(STARTER_RISKS)),
		];
		if (issues.length > 0) throw badFields(issues);
		return addChosen(context, {
			framework,
			controls: [...new Set(controls)],
			measures: [...new Set(measures)],
			risks: [...new Set(risks)],
		});
	},
});

function unknown(
	field: string,
	given: readonly string[],
	known: readonly string[],
): FieldIssue[] {
	const allowed = new Set(known);
	const message =
		field === "controls" && known.length === 0
			? "needs a framework"
			: `must be one that listStarters lists under ${field}`;
	return given.flatMap((one, at) =>
		allowed.has(one) ? [] : [{ field: `${field}[${at}]`, message }],
	);
}
