import { afterAll, beforeAll, expect, test } from "vitest";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let control: string;
beforeAll(async () => {
	tools = await shareTools();
	const { framework } = await add("addFramework", { name: "ISO 27001" });
	const added = await add("addControl", {
		framework_id: framework.id,
		section_title: "A.8.1",
		name: "Devices",
	});
	control = added.control.id;
});
afterAll(() => tools.close());

const add = (tool: string, input: object): Promise<Json> =>
	tools.use(tool, { organization_id: tools.organizationId, ...input });

const linked = async () =>
	(await tools.use("listLinkedRecords", { record_id: control })).linked_records;

test.each([
	["Measure", "measure", "addMeasure", { name: "x", category: "x" }],
	["Audit", "audit", "addAudit", undefined],
	[
		"Document",
		"document",
		"addDocument",
		{ title: "x", document_type: "POLICY", classification: "PUBLIC" },
	],
	["Snapshot", "snapshot", "takeSnapshot", { name: "x", type: "RISKS" }],
] as const)("linkControl%s links like linkRecords, and unlinkControl%s removes the link", async (name, kind, tool, input) => {
	const given = input ?? { framework_id: (await framework()).id, name: "x" };
	const { id } = (await add(tool, given))[kind];
	const ends = { control_id: control, [`${kind}_id`]: id };
	const { link } = await tools.use(`linkControl${name}`, ends);
	expect(link).toMatchObject({ record_id: control, linked_record_id: id });
	expect(await linked()).toMatchObject([{ id, kind }]);
	const unlinked = await tools.use(`unlinkControl${name}`, ends);
	expect(unlinked.was_linked).toBe(true);
	expect(await linked()).toEqual([]);
	for (const wrong of [control, `${id.slice(0, -4)}AAAA`]) {
		const { status, body } = await tools.call(`linkControl${name}`, {
			control_id: control,
			[`${kind}_id`]: wrong,
		});
		expect([status, body.fields[0].field]).toEqual([400, `${kind}_id`]);
	}
});

const framework = async () =>
	(await add("addFramework", { name: "Another" })).framework;

test("assignTask and unassignTask change the person, and a wrong id names the field", async () => {
	const { task } = await add("addTask", { name: "Order keys" });
	const { people } = await add("addPeople", {
		full_name: "Ada",
		kind: "EMPLOYEE",
		primary_email_address: "ada@example.com",
	});
	const given = { task_id: task.id, assigned_to_id: people.id };
	const assigned = await tools.use("assignTask", given, tools.member.token);
	expect(assigned.task).toMatchObject({
		assigned_to_id: people.id,
		assigned_to_name: "Ada",
	});
	const missing = await tools.call("assignTask", {
		...given,
		assigned_to_id: `${people.id.slice(0, -4)}AAAA`,
	});
	expect(missing.status).toBe(400);
	expect(missing.body.fields[0].field).toBe("assigned_to_id");
	const { task: free } = await tools.use("unassignTask", { task_id: task.id });
	expect(free.assigned_to_id).toBeNull();
	const refused = await tools.call("assignTask", given, tools.viewer.token);
	expect(refused.status).toBe(403);
});

test("the names are listed only for clients that ask for the toolset", async () => {
	const listed = async (query: string) => {
		const request = { jsonrpc: "2.0", id: 1, method: "tools/list" };
		const { body } = await tools.rpc(request, { query });
		return body.result.tools.map(({ name }: Json) => name);
	};
	expect(await listed("")).not.toContain("assignTask");
	expect(await listed("?toolsets=compat")).toContain("assignTask");
});
