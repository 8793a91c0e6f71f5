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
