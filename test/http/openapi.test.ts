import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "../../src/operations.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let specification: Json;
beforeAll(async () => {
	tools = await shareTools();
	const answer = await fetch(`${tools.url}/api/openapi.json`);
	expect(answer.status).toBe(200);
	expect(answer.headers.get("content-type")).toMatch("application/json");
	specification = await answer.json();
});
afterAll(() => tools.close());

test("the description is valid OpenAPI 3.1, for every caller", async () => {
	const validator = new Validator();
	const { valid, errors } = await validator.validate(
		structuredClone(specification),
	);
	expect(errors).toBeUndefined();
	expect(valid).toBe(true);
	expect(validator.version).toBe("3.1");
});

test("the description contains the agent's routes, the health addresses and every tool", () => {
	const named = Object.entries<Json>(specification.paths).map(
		([path, item]) => `${path} ${Object.keys(item).sort().join()}`,
	);
	expect(named).toEqual(
		expect.arrayContaining([
			"/api/agent/v1/enroll post",
			"/api/agent/v1/heartbeat post",
			"/api/agent/v1/postures post",
			"/api/agent/v1/unenroll post",
			"/health/live get",
			"/health/ready get",
			"/api/mcp/health get",
			"/api/mcp/v1/health get",
			...operations
				.filter(({ surface }) => surface === "tool")
				.map(
					({ name, isReadOnly }) =>
						`/api/mcp/tools/${name} ${isReadOnly ? "get,post" : "post"}`,
				),
		]),
	);
});

test("no two operations have the same id, and every parameter is described", () => {
	const all = Object.values<Json>(specification.paths).flatMap((item) =>
		Object.values<Json>(item),
	);
	const ids = all.map(({ operationId }) => operationId);
	expect(new Set(ids).size).toBe(ids.length);
	for (const { operationId, parameters = [] } of all) {
		for (const { name, description } of parameters) {
			expect(description, `${operationId} ${name}`).toBeTruthy();
		}
	}
});

test("a tool's output matches its description", async () => {
	const { organizationId: organization_id } = tools;
	const output = await tools.use("listRisks", { organization_id });
	const { schema } =
		specification.paths["/api/mcp/tools/listRisks"].post.responses["200"]
			.content["application/json"];
	expect(Object.keys(output).sort()).toEqual(
		Object.keys(schema.properties).sort(),
	);
});

const answerOf = (tool: string) =>
	specification.paths[`/api/mcp/tools/${tool}`].post.responses["200"].content[
		"application/json"
	].schema.properties;
const inputOf = (tool: string) =>
	specification.paths[`/api/mcp/tools/${tool}`].post.requestBody.content[
		"application/json"
	].schema.properties;
const schema = (name: string) => specification.components.schemas[name];
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

test.each([
	["Risk", "risk", "risks"],
	["Nonconformity", "nonconformity", "nonconformities"],
	["ContinualImprovement", "continual_improvement", "continual_improvements"],
])("every tool that returns the record %s refers to the same schema", (name, one, many) => {
	for (const verb of ["get", "add", "update"]) {
		expect(answerOf(verb + name)[one], verb).toEqual(ref(name));
	}
	const plural = many.replace(/(?:^|_)(\w)/g, (_, letter) =>
		letter.toUpperCase(),
	);
	expect(answerOf(`list${plural}`)[many].items).toEqual(ref(`${name}Row`));
	expect(schema(name).required).toContain("updated_at");
	expect(schema(`${name}Row`).required).not.toContain("updated_at");
});

test("devices have a named schema too, in results and in lists", () => {
	expect(answerOf("addDevice").device).toEqual(ref("Device"));
	expect(answerOf("listDevices").devices.items).toEqual(ref("DeviceRow"));
});

test("a choice is the same schema in records, rows, inputs and filters", () => {
	const treatment = ref("RiskTreatment");
	expect(schema("RiskTreatment").enum).toContain("ACCEPTED");
	for (const name of ["Risk", "RiskRow"]) {
		expect(schema(name).properties.treatment).toMatchObject(treatment);
	}
	for (const tool of ["addRisk", "updateRisk"]) {
		expect(inputOf(tool).treatment, tool).toMatchObject(treatment);
	}
	const { filter } = inputOf("listRisks");
	expect(filter.properties.treatment.anyOf).toEqual([
		treatment,
		expect.objectContaining({ type: "array", items: treatment }),
	]);
});

/** Returns all values of this key in the description. */
function* valuesOf(key: string, value: Json): Generator<Json> {
	if (typeof value !== "object" || value === null) return;
	for (const [name, inner] of Object.entries(value)) {
		if (name === key) yield inner;
		yield* valuesOf(key, inner);
	}
}

test("every reference leads to a schema, and every named schema is used", () => {
	const used = new Set<string>(valuesOf("$ref", specification));
	const named = Object.keys(specification.components.schemas);
	expect([...used].sort()).toEqual(named.map((name) => ref(name).$ref).sort());
});

test("ids, texts, dates and times say in the description what the service accepts", () => {
	expect(inputOf("getRisk").id.pattern).toBe("^[\\w-]{32}$");
	const { name, description } = inputOf("addRisk");
	expect(name).toMatchObject({ minLength: 1, maxLength: 1000 });
	const accepts = (pattern: string, text: string) =>
		new RegExp(pattern).test(text);
	for (const [text, isName, isText] of [
		["Theft of laptops", true, true],
		["Diebstahl für 3 €", true, true],
		["  x ", true, true],
		[" \t ", false, true],
		["", false, true],
		["two\nlines", false, true],
		["a\u0007", false, false],
		["a\u0085", false, false],
	] as const) {
		expect(accepts(name.pattern, text), text).toBe(isName);
		expect(accepts(description.pattern, text), text).toBe(isText);
	}
	expect(inputOf("addTask").deadline).toMatchObject({ format: "date" });
	expect(inputOf("addVendor").website_url).toMatchObject({ format: "uri" });
	expect(inputOf("addPeople").primary_email_address.format).toBe("email");
	expect(inputOf("listRisks").as_of.format).toBe("date-time");
	expect(inputOf("addAsset").vendor_ids.uniqueItems).toBe(true);
});

test("results say which numbers are whole, and which texts are dates and times", () => {
	const { properties } = schema("Risk");
	expect(properties.inherent_risk_score.type).toBe("integer");
	expect(properties.residual_impact.type).toBe("integer");
	expect(schema("Vendor").properties.next_review_date).toMatchObject({
		format: "date",
	});
	expect(properties.archived_at).toMatchObject({
		type: ["string", "null"],
		format: "date-time",
	});
	const times = [...valuesOf("properties", specification.components.schemas)]
		.flatMap((each) => Object.entries<Json>(each))
		.filter(([name]) => name.endsWith("_at"));
	expect(times.length).toBeGreaterThan(50);
	for (const [name, { format }] of times) {
		expect(format, name).toBe("date-time");
	}
});

test("the tools for models say none of this, because a model pays for every byte", async () => {
	const { body } = await tools.rpc({
		jsonrpc: "2.0",
		id: 1,
		method: "tools/list",
	});
	expect(JSON.stringify(body)).not.toMatch(/"(format|pattern|minLength)"/);
});
