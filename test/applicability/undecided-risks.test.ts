import { afterAll, beforeAll, expect, test } from "vitest";
import { UNDECIDED_NOTE } from "../../src/starters/undecided.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const add = (tool: string, input: object): Promise<Json> =>
	tools.use(tool, { organization_id: tools.organizationId, ...input });

const read = (input: object): Promise<Json> =>
	tools.use("getStatementOfApplicability", input);

test("suggested risks are marked until somebody decides, and controls that nothing else justifies are counted", async () => {
	const { framework } = await add("addFramework", { name: "Suggestions" });
	const suggest = (name: string) =>
		add("addRisk", {
			...{ name, category: "IT", treatment: "MITIGATED", note: UNDECIDED_NOTE },
			...{ inherent_likelihood: 3, inherent_impact: 3 },
		});
	const { risk: flood } = await suggest("Flood");
	const { risk: fire } = await suggest("Fire");
	const control = (name: string, more: object) =>
		add("addControl", {
			...{ framework_id: framework.id, section_title: "A", name },
			...more,
		});
	await control("Drains", { linked_record_ids: [flood.id] });
	const { control: alarms } = await control("Sprinklers", {
		linked_record_ids: [flood.id, fire.id],
	});
	await add("addObligation", {
		requirement: "Fire code",
		linked_record_ids: [alarms.id],
	});
	await control("Walls", {
		linked_record_ids: [fire.id],
		inclusion_justification: "The landlord asks for it",
	});
	const undecidedIn = async (more: object = {}) => {
		const { controls: found, ...rest } = await read({
			framework_id: framework.id,
			...more,
		});
		const named = found.map(({ name, risks }: Json) => [
			name,
			risks.map((risk: Json) => [risk.name, risk.is_undecided]),
		]);
		return [rest.only_undecided_risks, named];
	};
	const before = [
		1,
		[
			["Drains", [["Flood", true]]],
			[
				"Sprinklers",
				[
					["Fire", true],
					["Flood", true],
				],
			],
			["Walls", [["Fire", true]]],
		],
	];
	expect(await undecidedIn()).toEqual(before);
	const { sha256 } = await read({ framework_id: framework.id });
	await tools.use("approveStatementOfApplicability", {
		framework_id: framework.id,
		sha256,
	});
	await tools.use("updateRisk", { id: flood.id, treatment: "ACCEPTED" });
	expect(await undecidedIn({ version_number: 1 })).toEqual(before);
	expect(await undecidedIn()).toEqual([
		0,
		[
			["Drains", [["Flood", false]]],
			[
				"Sprinklers",
				[
					["Fire", true],
					["Flood", false],
				],
			],
			["Walls", [["Fire", true]]],
		],
	]);
});
