import { afterAll, beforeAll, expect, test } from "vitest";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { legacy, modern } from "./requests.ts";

let tools: TestTools;

beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

test("in revision 2026-07-28, only the client may cache the list, for five minutes", async () => {
	const { body, headers } = modern("tools/list");
	const answer = await tools.rpc(body, { headers });
	expect(answer.status).toBe(200);
	expect(answer.body.result).toMatchObject({
		resultType: "complete",
		ttlMs: 300_000,
		cacheScope: "private",
	});
	const again = await tools.rpc(body, { headers });
	expect(again.body).toEqual(answer.body);
});

test("toolsets and readonly limit the tools through the address, the header or both together", async () => {
	const names = async (query: string, headers = {}) => {
		const { body } = await tools.rpc(legacy("tools/list"), { query, headers });
		return body.result.tools.map(({ name }: Json) => name) as string[];
	};
	const all = await names("");
	const vendors = await names("?toolsets=vendors");
	expect(vendors).toHaveLength(6);
	// listOrganizations stays, because every other tool needs the ids of its records.
	expect(vendors[0]).toBe("listOrganizations");
	expect(await names("", { "x-mcp-toolsets": "vendors" })).toEqual(vendors);
	expect(await names("?toolsets=all")).toEqual(expect.arrayContaining(all));
	expect(
		await names("?toolsets=risks,vendors", { "x-mcp-toolsets": "vendors" }),
	).toEqual(vendors);
	expect(
		await names("?toolsets=vendors", { "x-mcp-readonly": "true" }),
	).toEqual(["listOrganizations", "listVendors", "getVendor"]);
	// A misspelled or empty value must not select all tools.
	for (const query of [
		"?toolsets=rockets",
		"?readonly=maybe",
		"?readonly",
		"?readOnly=true",
		"?toolset=risks",
	]) {
		const { status, body } = await tools.rpc(legacy("tools/list"), { query });
		expect(status).toBe(400);
		expect(body).toMatchObject({ id: 7, error: { code: -32602 } });
	}
});

test("the list shows the tools that the role may call in at least one organization, in a fixed order", async () => {
	const list = async (token: string) => {
		const { body } = await tools.rpc(legacy("tools/list"), { token });
		return body.result.tools as Json[];
	};
	const [viewer, member, admin] = await Promise.all(
		[tools.viewer, tools.member, tools.admin].map(({ token }) => list(token)),
	);
	const names = (listed: Json[] = []) => listed.map(({ name }) => name);
	expect(names(viewer)).not.toContain("addRisk");
	expect(viewer?.every((tool) => tool.annotations.readOnlyHint)).toBe(true);
	expect(names(member)).toContain("addRisk");
	expect(names(member)).not.toContain("deleteRisk");
	expect(names(admin)).toContain("deleteRisk");
	expect(names(admin).filter((name) => names(member).includes(name))).toEqual(
		names(member),
	);
	const both = await tools.makeUser({
		[tools.organizationId]: "viewer",
		[tools.otherOrganizationId]: "admin",
	});
	expect(names(await list(both.token))).toEqual(names(admin));
});
