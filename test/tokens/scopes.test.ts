import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../src/operations.ts";
import {
	makeCreateApiToken,
	rotateApiToken,
} from "../../src/tokens/api-token-operations.ts";
import { listOrganizationApiTokens } from "../../src/tokens/organization-token-operations.ts";
import { type Scopes, toolsetsOf } from "../../src/tokens/scopes.ts";
import {
	auditEntries,
	callAs,
	makeApiToken,
	type TestUser,
} from "../support/people.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

const createApiToken = makeCreateApiToken(() => toolsetsOf(operations));

let tools: TestTools;
/** The admin of both organizations. */
let user: TestUser;

beforeAll(async () => {
	tools = await shareTools();
	const { id } = await tools.makeUser({
		[tools.organizationId]: "admin",
		[tools.otherOrganizationId]: "admin",
	});
	const { rows } = await tools.database.owner.query<TestUser>(
		"select id, name, email from users where id = $1",
		[id],
	);
	if (!rows[0]) throw new Error("the user is not there");
	user = rows[0];
});
afterAll(() => tools.close());

const made = new Map<string, Promise<{ token: string }>>();

/**
 * Returns a token of the user with these scopes. The function makes only one token for each
 * combination, because a user may have at most 100.
 */
async function narrowed(scopes: Partial<Scopes>): Promise<string> {
	const key = JSON.stringify(scopes);
	const token = made.get(key) ?? makeApiToken(tools.database, user, { scopes });
	made.set(key, token);
	return (await token).token;
}

const all = operations.filter(({ surface }) => surface === "tool");
const writing = all.filter(({ isReadOnly }) => !isReadOnly);
const ofOneOrganization = all.filter(
	({ tenant }) => tenant === "organization_id",
);

async function listed(token: string, query = ""): Promise<string[]> {
	const { body } = await tools.rpc(
		{ jsonrpc: "2.0", id: 1, method: "tools/list" },
		{ token, query },
	);
	return body.result.tools.map(({ name }: Json) => name);
}

/** Calls a tool over MCP. Returns the status and the error. */
async function callOverMcp(name: string, input: object, token: string) {
	const { status, body } = await tools.rpc(
		{
			jsonrpc: "2.0",
			id: 1,
			method: "tools/call",
			params: { name, arguments: input },
		},
		{ token },
	);
	return { status, error: body.error };
}

describe("a read-only token of an admin", () => {
	test.each(
		writing.map(({ name }) => name),
	)("may not call %s, neither over MCP nor over plain HTTP: 403", async (name) => {
		const token = await narrowed({ read_only: true });
		const input = { organization_id: tools.organizationId };
		const plain = await tools.call(name, input, token);
		expect(plain.status).toBe(403);
		expect(plain.body.message).toContain("read-only");
		const mcp = await callOverMcp(name, input, token);
		expect(mcp.status).toBe(403);
		expect(mcp.error.message).toContain("read-only");
	});

	test("may read everything, and its list contains only the tools that read", async () => {
		const token = await narrowed({ read_only: true });
		const organization_id = tools.organizationId;
		await tools.use("listRisks", { organization_id }, token);
		await tools.use("listAuditLog", { organization_id }, token);
		const names = await listed(token);
		expect(names).toContain("listAuditLog");
		expect(names.filter((name) => writing.some((one) => one.name === name)))
			// The next expectation shows that this list is not empty for another reason.
			.toEqual([]);
		expect(await listed(await narrowed({}))).toContain("addRisk");
	});
});

describe("a token of one organization", () => {
	test.each(
		ofOneOrganization.map(({ name }) => name),
	)("may not call %s for another organization of its user: 403", async (name) => {
		const token = await narrowed({
			organization_ids: [tools.organizationId],
		});
		const input = { organization_id: tools.otherOrganizationId };
		expect((await tools.call(name, input, token)).status).toBe(403);
		expect((await callOverMcp(name, input, token)).status).toBe(403);
	});

	test("lists only this organization and finds no record of another one", async () => {
		const token = await narrowed({ organization_ids: [tools.organizationId] });
		const { organizations } = await tools.use("listOrganizations", {}, token);
		expect(organizations.map(({ id }: Json) => id)).toEqual([
			tools.organizationId,
		]);
		const unlimited = await narrowed({});
		const { measure } = await tools.use(
			"addMeasure",
			{
				organization_id: tools.otherOrganizationId,
				name: "Locks",
				category: "Physical",
			},
			unlimited,
		);
		const { status } = await tools.call(
			"getMeasure",
			{ id: measure.id },
			token,
		);
		expect(status).toBe(404);
		await tools.use("getMeasure", { id: measure.id }, unlimited);
	});

	test("is not listed in other organizations and cannot be revoked from there", async () => {
		const scopes = { organization_ids: [tools.organizationId] };
		const { id } = await makeApiToken(tools.database, user, {
			name: "of one",
			scopes,
		});
		const namesIn = async (organization_id: string) => {
			const { api_tokens } = await callAs(
				tools.database,
				user,
				listOrganizationApiTokens,
				{ organization_id },
			);
			return api_tokens.map((token) => token.id);
		};
		expect(await namesIn(tools.organizationId)).toContain(id);
		expect(await namesIn(tools.otherOrganizationId)).not.toContain(id);
	});

	test("does not reveal to an organization which others it reaches", async () => {
		const both = [tools.organizationId, tools.otherOrganizationId].sort();
		const { id } = await makeApiToken(tools.database, user, {
			scopes: { organization_ids: both },
		});
		const { api_tokens } = await callAs(
			tools.database,
			user,
			listOrganizationApiTokens,
			{ organization_id: tools.organizationId },
		);
		expect(api_tokens.find((token) => token.id === id)?.scopes).toMatchObject({
			organization_ids: [tools.organizationId],
		});
	});
});

describe("a token of one toolset", () => {
	test.each(
		all
			.filter(
				({ toolset, name }) =>
					toolset !== "risks" && name !== "listOrganizations",
			)
			.map(({ name }) => name),
	)("may not call %s: 403", async (name) => {
		const token = await narrowed({ toolsets: ["risks"] });
		const input = { organization_id: tools.organizationId };
		expect((await tools.call(name, input, token)).status).toBe(403);
		expect((await callOverMcp(name, input, token)).status).toBe(403);
	});

	test("may call and list only its own tools and listOrganizations", async () => {
		const token = await narrowed({ toolsets: ["risks"] });
		const organization_id = tools.organizationId;
		await tools.use("listOrganizations", {}, token);
		await tools.use("listRisks", { organization_id }, token);
		expect((await listed(token)).sort()).toEqual([
			"addRisk",
			"deleteRisk",
			"getRisk",
			"listOrganizations",
			"listRisks",
			"updateRisk",
		]);
		// The address limits the tools further and never adds any.
		expect(await listed(token, "?toolsets=vendors")).toEqual([
			"listOrganizations",
		]);
		expect(await listed(token, "?toolsets=all")).toHaveLength(6);
	});

	test("gets instructions about its own tools only", async () => {
		const params = {
			protocolVersion: "2025-06-18",
			capabilities: {},
			clientInfo: { name: "test", version: "1" },
		};
		const { body } = await tools.rpc(
			{ jsonrpc: "2.0", id: 1, method: "initialize", params },
			{ token: await narrowed({ toolsets: ["risks"] }) },
		);
		const { instructions } = body.result;
		expect(instructions).toContain("selects toolsets: risks.");
		expect(instructions).toContain("listRisks");
		expect(instructions).not.toMatch(/getOverview|linkRecords|countRecords/);
	});
});

test("a token without the toolset links adds records, but does not link them", async () => {
	const organization_id = tools.organizationId;
	const { measure } = await tools.use("addMeasure", {
		organization_id,
		name: "Locks",
		category: "Sites",
	});
	const linked_record_ids = [measure.id];
	const risk = {
		name: "Theft",
		category: "Sites",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 3,
	};
	const one = (more: object) => ({ organization_id, ...risk, ...more });
	const many = (more: object) => ({
		organization_id,
		kind: "risk",
		records: [{ ...risk, ...more }],
	});
	const without = await narrowed({ toolsets: ["bulk", "risks"] });
	const withLinks = await narrowed({ toolsets: ["bulk", "links", "risks"] });
	for (const [tool, input] of [
		["addRisk", one],
		["addRecords", many],
	] as const) {
		await tools.use(tool, input({}), without);
		const denied = await tools.call(
			tool,
			input({ linked_record_ids }),
			without,
		);
		expect(denied.status).toBe(403);
		expect(denied.body.message).toContain("linked_record_ids belongs to links");
		await tools.use(tool, input({ linked_record_ids }), withLinks);
	}
	const { linked_records } = await tools.use("listLinkedRecords", {
		record_id: measure.id,
	});
	expect(linked_records).toHaveLength(2);
});

test("a token needs the toolsets of all registers that starters belong to", async () => {
	const { organizationId: organization_id } = tools;
	const registers = ["controls", "frameworks", "links", "measures", "risks"];
	const add = async (toolsets: string[]) => {
		const token = await narrowed({ toolsets: ["starters", ...toolsets] });
		return tools.call("addStarters", { organization_id }, token);
	};
	for (const missing of registers) {
		const { status, body } = await add(
			registers.filter((name) => name !== missing),
		);
		expect([status, body.message]).toEqual([
			403,
			expect.stringContaining(`belongs to ${missing}`),
		]);
	}
	expect((await add(registers)).status).toBe(200);
});

describe("createApiToken", () => {
	test("stores and shows the scopes, and rotation keeps them", async () => {
		const { api_token } = await callAs(tools.database, user, createApiToken, {
			name: "narrow",
			read_only: true,
			organization_ids: [tools.organizationId],
			toolsets: ["vendors", "risks", "risks"],
		});
		const scopes = {
			read_only: true,
			organization_ids: [tools.organizationId],
			toolsets: ["risks", "vendors"],
		};
		expect(api_token.scopes).toEqual(scopes);
		const rotated = await callAs(tools.database, user, rotateApiToken, {
			id: api_token.id,
		});
		expect(rotated.api_token.scopes).toEqual(scopes);
		const entries = await auditEntries(tools.database, tools.organizationId);
		expect(entries.at(-1)).toMatchObject({
			operation: "rotateApiToken",
			changes: { toolsets: { after: ["risks", "vendors"] } },
		});
		// An organization that the token does not reach has no entry about it.
		const others = await auditEntries(
			tools.database,
			tools.otherOrganizationId,
		);
		expect(others.map(({ record_id }) => record_id)).not.toContain(
			api_token.id,
		);
	});

	test("rejects somebody else's organization and an unknown toolset, and the error names the field", async () => {
		await expect(
			callAs(tools.database, user, createApiToken, {
				name: "x",
				organization_ids: [tools.organizationId, "nonsense"],
				toolsets: ["riks"],
			}),
		).rejects.toMatchObject({
			code: "bad_request",
			fields: [
				{ field: "organization_ids[1]" },
				{
					field: "toolsets[0]",
					message: `must be one of ${toolsetsOf(operations).join(", ")}`,
				},
			],
		});
	});

	test("creates a token that lasts a year, and one that never expires only on request", async () => {
		const lifeDays = async (given: object) => {
			const { api_token } = await callAs(tools.database, user, createApiToken, {
				name: "x",
				...given,
			});
			if (api_token.expires_at === null) return null;
			const lifeMs =
				Date.parse(api_token.expires_at) - Date.parse(api_token.created_at);
			return Math.round(lifeMs / 86_400_000);
		};
		expect(await lifeDays({})).toBe(365);
		expect(await lifeDays({ expires_in_days: 7 })).toBe(7);
		expect(await lifeDays({ expires_at: null })).toBeNull();
	});
});
