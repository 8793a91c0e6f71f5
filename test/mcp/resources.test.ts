import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let riskId: string;

beforeAll(async () => {
	tools = await shareTools();
	const { risk } = await tools.use("addRisk", {
		organization_id: tools.organizationId,
		name: "Laptop is stolen",
		category: "Devices",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 4,
	});
	riskId = risk.id;
});
afterAll(() => tools.close());

const ask = (method: string, params: object = {}, options: object = {}) =>
	tools.rpc({ jsonrpc: "2.0", id: 7, method, params }, options);

const read = (uri: string, options?: object) =>
	ask("resources/read", { uri }, options);

test("the template has the address of every record, and no record is listed", async () => {
	const templates = await ask("resources/templates/list");
	expect(templates.body.result.resourceTemplates).toMatchObject([
		{ uriTemplate: "assay://record/{id}", mimeType: "application/json" },
	]);
	const { body } = await ask("resources/list");
	expect(body.result.resources).toEqual([]);
});

test("a resource has the record as its get tool returns it, also for a viewer", async () => {
	const uri = `assay://record/${riskId}`;
	const { risk } = await tools.use("getRisk", { id: riskId });
	for (const { token } of [tools.viewer, tools.admin]) {
		const { body } = await read(uri, { token });
		const [content] = body.result.contents;
		expect(content).toMatchObject({ uri, mimeType: "application/json" });
		expect(JSON.parse(content.text)).toEqual(risk);
	}
});

test("a record of another organization is not found, and neither is one that does not exist", async () => {
	const addresses = [
		`assay://record/${makeId(tools.otherOrganizationId, "risk")}`,
		`assay://record/${makeId(tools.organizationId, "risk")}`,
		"assay://record/zz",
		"assay://policy/1",
		"file:///etc/passwd",
	];
	for (const uri of addresses) {
		const { status, body } = await read(uri);
		expect(status, uri).toBe(200);
		expect(body.error.message, uri).toMatch(/not found/i);
	}
	const stranger = await tools.makeUser({
		[tools.otherOrganizationId]: "admin",
	});
	const { body } = await read(`assay://record/${riskId}`, {
		token: stranger.token,
	});
	expect(body.error.message).toMatch(/not found/i);
});

test("a toolset that was narrowed away has no resources", async () => {
	const { body } = await read(`assay://record/${riskId}`, {
		query: "?toolsets=vendors",
	});
	expect(body.error.message).toMatch(/not found/i);
});

test("words complete the id of a record", async () => {
	const complete = (value: string) =>
		ask("completion/complete", {
			ref: { type: "ref/resource", uri: "assay://record/{id}" },
			argument: { name: "id", value },
		});
	expect((await complete("stolen")).body.result.completion.values).toEqual([
		riskId,
	]);
	expect((await complete(" ")).body.result.completion.values).toEqual([]);
});

test("tools and resources leave out characters that only a model reads, and so do errors", async () => {
	const hidden = "\u202e\u2066\u{e0041}\u200f";
	const { risk } = await tools.use("addRisk", {
		organization_id: tools.organizationId,
		name: `Lap${hidden}top`,
		category: "Devices",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 4,
	});
	const call = (name: string, input: object) =>
		ask("tools/call", { name, arguments: input });
	const found = (await call("getRisk", { id: risk.id })).body.result;
	expect(found.structuredContent.risk.name).toBe("Laptop");
	expect(JSON.parse(found.content[0].text).risk.name).toBe("Laptop");
	const { body } = await read(`assay://record/${risk.id}`);
	expect(JSON.parse(body.result.contents[0].text).name).toBe("Laptop");
	const wrong = await call("listRisks", { [`a${hidden}b`]: 1 });
	expect(wrong.body.result.isError).toBe(true);
	expect(JSON.stringify(wrong.body)).not.toMatch(
		/[\u202e\u2066\u{e0041}\u200f]/u,
	);
});
