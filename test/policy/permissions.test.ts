import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byName, catalogue } from "../support/every-tool.ts";
import { type LeastInputs, makeLeastInputs } from "../support/least-inputs.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let inputs: LeastInputs;
beforeAll(async () => {
	tools = await shareTools();
	inputs = await makeLeastInputs(tools);
});
afterAll(() => tools.close());

describe("callers without permission", () => {
	test.each(byName)("%s answers 401 without a token", async (name) => {
		const answer = await tools.call(name, {}, "");
		expect(answer.status).toBe(401);
	});

	test.each(
		byName,
	)("%s returns nothing to a member of another organization", async (name, {
		operation,
	}) => {
		// All other values of the input are valid, so only the organization can be the reason.
		const input = {
			...inputs.leastFor(operation),
			...inputs.tenantOf(operation),
		};
		const answer = await tools.call(name, input, tools.stranger.token);
		const text = JSON.stringify(answer.body);
		if (operation.tenant === null) {
			expect(text).not.toContain(tools.organizationId);
		} else if (operation.tenant === "organization_id") {
			expect(answer.status).toBe(403);
		} else {
			expect([400, 404], text).toContain(answer.status);
		}
		expect(text).not.toContain("Least");
	});

	test("callers without permission cannot change anything in an organization", async () => {
		for (const [kind, seed] of inputs.seeds) {
			if (!catalogue.tools.has(`get${kind}`)) continue;
			const read = await tools.use(`get${kind}`, { id: seed.id });
			expect(Object.values<Json>(read)[0]).toMatchObject(seed);
		}
	});

	test.each(
		byName.filter(([, { operation }]) =>
			["write", "admin"].includes(operation.access),
		),
	)("%s answers 403 to a role that is too low", async (name, { operation }) => {
		const users =
			operation.access === "admin"
				? [tools.viewer, tools.member]
				: [tools.viewer];
		for (const { token } of users) {
			const input = inputs.tenantOf(operation);
			const answer = await tools.call(name, input, token);
			expect(answer.status).toBe(403);
			expect(answer.body.message).toMatch(/^permission denied:/);
		}
	});
});

describe("lists", () => {
	const lists = byName.filter(
		([, { definition }]) =>
			(definition.inputSchema as Json).properties.order_by,
	);
	test.each(
		lists,
	)("%s supports every order and direction that it offers, and continues with the cursor", async (name, {
		operation,
		definition,
	}) => {
		const { properties } = definition.inputSchema as Json;
		for (const field of properties.order_by.properties.field.enum) {
			for (const direction of ["ASC", "DESC"]) {
				const input = {
					...inputs.tenantOf(operation),
					size: 1,
					order_by: { field, direction },
				};
				const { next_cursor } = await tools.use(name, input);
				await tools.use(name, { ...input, cursor: next_cursor });
			}
		}
	});
});
