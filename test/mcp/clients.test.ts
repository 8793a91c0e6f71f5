import {
	Client as ModernClient,
	StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { makeSecret } from "../../src/tokens/secret.ts";

import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;

beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const RISK = {
	name: "Laptop theft",
	category: "Physical",
	treatment: "MITIGATED",
	inherent_likelihood: 4,
	inherent_impact: 5,
};

const INFO = { name: "assay-test", version: "1.2.3" };

/** The methods that the tests need from a client of either package. */
interface AnyClient {
	listTools: () => Promise<{ tools: Json[] }>;
	callTool: (params: {
		name: string;
		arguments?: Record<string, unknown>;
	}) => Promise<Json>;
	close: () => Promise<void>;
	getInstructions: () => string | undefined;
}

type Connect = (token: string, query?: string) => Promise<AnyClient>;

const address = (query = "") => new URL(`${tools.url}/api/mcp/v1${query}`);

const requestInit = (token: string) => ({
	headers: { authorization: `Bearer ${token}` },
});

const clients: [string, Connect][] = [
	[
		"@modelcontextprotocol/sdk 1.x",
		async (token, query) => {
			const client = new LegacyClient(INFO);
			await client.connect(
				new LegacyTransport(address(query), {
					requestInit: requestInit(token),
				}),
			);
			return client as AnyClient;
		},
	],
	[
		"@modelcontextprotocol/client 2.x in revision 2026-07-28",
		async (token, query) => {
			const client = new ModernClient(INFO, {
				versionNegotiation: { mode: { pin: "2026-07-28" } },
			});
			await client.connect(
				new ModernTransport(address(query), {
					requestInit: requestInit(token),
				}),
			);
			return client as unknown as AnyClient;
		},
	],
	[
		"@modelcontextprotocol/client 2.x with initialize",
		async (token, query) => {
			const client = new ModernClient(INFO, {
				versionNegotiation: { mode: "legacy" },
			});
			await client.connect(
				new ModernTransport(address(query), {
					requestInit: requestInit(token),
				}),
			);
			return client as unknown as AnyClient;
		},
	],
];

describe.each(clients)("%s", (_, connect) => {
	test("reads the instructions, lists the tools and calls them", async () => {
		const client = await connect(tools.member.token);
		expect(client.getInstructions()).toContain("listOrganizations");
		const { tools: listed } = await client.listTools();
		expect(listed.map(({ name }) => name)).toContain("addRisk");
		const added = await client.callTool({
			name: "addRisk",
			arguments: { organization_id: tools.organizationId, ...RISK },
		});
		expect(added.isError).toBeFalsy();
		expect(added.structuredContent.risk).toMatchObject(RISK);
		expect(JSON.parse(added.content[0].text)).toEqual(added.structuredContent);
		const read = await client.callTool({
			name: "getRisk",
			arguments: { id: added.structuredContent.risk.id },
		});
		expect(read.structuredContent).toEqual(added.structuredContent);
		await client.close();
	});

	test("gets a result that says what is wrong with the input", async () => {
		const client = await connect(tools.member.token);
		const { isError, content } = await client.callTool({
			name: "addRisk",
			arguments: { organization_id: tools.organizationId, treatment: "HIDE" },
		});
		expect(isError).toBe(true);
		expect(content[0].text).toContain("treatment: must be one of MITIGATED");
		expect(content[0].text).toContain("name: is required");
		await client.close();
	});

	test("receives the error message when its role does not allow a call", async () => {
		const client = await connect(tools.viewer.token);
		await expect(
			client.callTool({
				name: "addRisk",
				arguments: { organization_id: tools.organizationId, ...RISK },
			}),
		).rejects.toThrow(/permission denied: addRisk needs the role member/);
		await client.close();
	});

	test("receives denied calls as results if its address asks for them, and continues", async () => {
		const client = await connect(tools.viewer.token, "?errors=result");
		for (const [name, input, says] of [
			[
				"addRisk",
				{ organization_id: tools.organizationId, ...RISK },
				/permission denied: addRisk needs the role member/,
			],
			[
				"listRisks",
				{ organization_id: tools.otherOrganizationId },
				/^listOrganizations lists the organizations that you may view/,
			],
			["listRisks", { organization_id: "made up" }, /^listOrganizations lists/],
		] as const) {
			const refused = await client.callTool({ name, arguments: input });
			expect(refused.isError).toBe(true);
			expect(refused.content[0].text).toMatch(says);
		}
		const { isError } = await client.callTool({
			name: "listRisks",
			arguments: { organization_id: tools.organizationId },
		});
		expect(isError).toBeFalsy();
		await client.close();
	});

	test("sees only the tools that the address selects", async () => {
		const client = await connect(
			tools.admin.token,
			"?toolsets=risks&readonly=true",
		);
		const { tools: listed } = await client.listTools();
		expect(listed.map(({ name }) => name)).toEqual([
			"listOrganizations",
			"listRisks",
			"getRisk",
		]);
		await expect(
			client.callTool({ name: "listVendors", arguments: {} }),
		).rejects.toThrow(/left out by toolsets or readonly/);
		await client.close();
	});

	test("is rejected without a valid token", async () => {
		await expect(connect(makeSecret("pat"))).rejects.toThrow();
	});
});
