import {
	afterAll,
	beforeAll,
	beforeEach,
	describe,
	expect,
	test,
} from "vitest";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const risk = (fields: object = {}) => ({
	name: "Theft",
	category: "Security",
	treatment: "MITIGATED",
	inherent_likelihood: 3,
	inherent_impact: 3,
	...fields,
});
const addRisk = async (fields: object = {}): Promise<Json> =>
	(await tools.use("addRisk", risk(fields))).risk;

describe("organization_id", () => {
	test("may be left out or null by a caller with one organization, in reads and writes, at both doors", async () => {
		const added = await addRisk();
		expect(added.organization_id).toBe(tools.organizationId);
		for (const input of [{}, { organization_id: null }]) {
			const { risks } = await tools.use("listRisks", input);
			expect(risks.map(({ id }: Json) => id)).toContain(added.id);
		}
		const { body } = await tools.rpc({
			jsonrpc: "2.0",
			id: 1,
			method: "tools/call",
			params: { name: "getOrganization", arguments: {} },
		});
		expect(body.result.structuredContent.organization.id).toBe(
			tools.organizationId,
		);
	});

	test("is required if the caller has several organizations, and the error says so", async () => {
		const both = await tools.makeUser({
			[tools.organizationId]: "admin",
			[tools.otherOrganizationId]: "viewer",
		});
		for (const input of [{}, { organization_id: null }]) {
			const { status, body } = await tools.call("addRisk", input, both.token);
			expect(status).toBe(400);
			expect(body.message).toContain(
				"organization_id: is required, because you have several organizations; listOrganizations returns their ids",
			);
			expect(body.message).toContain("name: is required");
		}
	});

	test("gives no rights when left out: a viewer still may not write, nor may a user without an organization read", async () => {
		const nobody = await tools.makeUser({});
		expect(
			(await tools.call("addRisk", risk(), tools.viewer.token)).status,
		).toBe(403);
		expect((await tools.call("listRisks", {}, nobody.token)).status).toBe(403);
		const other = await tools.use("listRisks", {}, tools.stranger.token);
		expect(other.risks).toEqual([]);
	});

	test("is not required by any tool's schema", async () => {
		const { body } = await tools.rpc({
			jsonrpc: "2.0",
			id: 1,
			method: "tools/list",
		});
		for (const { inputSchema } of body.result.tools) {
			expect(inputSchema.required ?? []).not.toContain("organization_id");
		}
	});
});

describe("if_updated_at", () => {
	test("lets a change through if it equals the record's updated_at as the service returned it", async () => {
		const { id, updated_at } = await addRisk();
		// The database keeps microseconds; the caller sees milliseconds.
		const { risk } = await tools.use("updateRisk", {
			id,
			note: "first",
			if_updated_at: updated_at,
		});
		expect(risk.note).toBe("first");
		const local = new Date(Date.parse(risk.updated_at) + 3_600_000)
			.toISOString()
			.replace("Z", "+01:00");
		await tools.use("updateRisk", { id, note: "second", if_updated_at: local });
	});

	test.each([
		["updateRisk", async () => addRisk(), "name"],
		[
			"updateDevice",
			async () => (await tools.use("addDevice", { name: "laptop" })).device,
			"name",
		],
	])("%s rejects a change of what somebody else has changed: 409 with the current time", async (name, make, field) => {
		const { id, updated_at } = await make();
		const [key = ""] = Object.keys(
			await tools.use(name, { id, [field]: "theirs" }),
		);
		const { status, body } = await tools.call(name, {
			id,
			[field]: "ours",
			if_updated_at: updated_at,
		});
		expect(status).toBe(409);
		expect(body.error).toBe("conflict");
		const latest = (await tools.use(name.replace("update", "get"), { id }))[
			key
		];
		expect(latest[field]).toBe("theirs");
		expect(body.fields).toEqual([
			{
				field: "if_updated_at",
				message: `the ${key} was last changed at ${latest.updated_at}, not at ${updated_at}; read it again, and repeat your change if it is still right`,
			},
		]);
	});

	test("rejects a stale change of the organization, as an isError result over MCP", async () => {
		const { organization } = await tools.use("getOrganization");
		await tools.use("updateOrganization", { name: "Renamed" });
		for (const [name, given] of [
			["updateOrganization", { name: "Lost" }],
			["updateOrganizationSettings", { heartbeat_interval_seconds: 60 }],
		]) {
			const { status, body } = await tools.rpc({
				jsonrpc: "2.0",
				id: 1,
				method: "tools/call",
				params: {
					name,
					arguments: {
						...(given as object),
						if_updated_at: organization.updated_at,
					},
				},
			});
			expect(status).toBe(200);
			expect(body.result.isError).toBe(true);
			expect(body.result.content[0].text).toMatch(
				/^if_updated_at: the organization was last changed at/,
			);
		}
	});

	test("lets exactly one of many simultaneous changes through", async () => {
		const { id, updated_at } = await addRisk();
		const answers = await Promise.all(
			Array.from({ length: 8 }, (_, n) =>
				tools.call("updateRisk", {
					id,
					note: `${n}`,
					if_updated_at: updated_at,
				}),
			),
		);
		expect(answers.map(({ status }) => status).sort()).toEqual([
			200, 409, 409, 409, 409, 409, 409, 409,
		]);
	});
});

describe("append", () => {
	let id: string;
	beforeEach(async () => {
		id = (await addRisk({ note: "one" })).id;
	});
	const append = (texts: object, more: object = {}) =>
		tools.call("updateRisk", { id, append: texts, ...more });

	test("adds a line to a long text, and begins an empty one", async () => {
		const { body } = await append(
			{ note: "two\nthree", description: "new" },
			{ category: "Legal" },
		);
		expect(body.risk).toMatchObject({
			note: "one\ntwo\nthree",
			description: "new",
			category: "Legal",
		});
		const { audit_entries: entries } = await tools.use("listAuditLog", {
			filter: { record_id: id, operation: "updateRisk" },
		});
		expect(entries[0].changes.note).toEqual({
			before: "one",
			after: "one\ntwo\nthree",
		});
	});

	test("loses no line when several are added simultaneously", async () => {
		await Promise.all(["a", "b", "c", "d"].map((note) => append({ note })));
		const { risk } = await tools.use("getRisk", { id });
		expect(risk.note.split("\n").sort()).toEqual(["a", "b", "c", "d", "one"]);
	});

	test("checks the limit of the whole text", async () => {
		expect((await append({ note: "x".repeat(4996) })).status).toBe(200);
		const { status, body } = await append({ note: "y" });
		expect(status).toBe(400);
		expect(body.message).toBe(
			"append.note: would make the note of this risk 5002 characters long; it must have at most 5000 characters",
		);
	});

	test("names what it rejects", async () => {
		for (const [texts, more, message] of [
			[
				{ note: "x" },
				{ note: "y" },
				"append.note: must not be given together with note, which replaces the text",
			],
			[
				{ note: "x" },
				{ note: null },
				"append.note: must not be given together with note, which replaces the text",
			],
			[{ note: " " }, {}, "append.note: must not be empty"],
			[
				{ name: "x" },
				{},
				'append: "name" is not an argument of this tool; the arguments are description, note',
			],
		] as const) {
			const { status, body } = await append(texts, more);
			expect(status).toBe(400);
			expect(body.message).toBe(message);
		}
		expect((await tools.use("getRisk", { id })).risk.note).toBe("one");
	});

	test("appends to the organization's description too", async () => {
		await tools.use("updateOrganization", { description: "We make things." });
		const { organization } = await tools.use("updateOrganization", {
			append: { description: "And repair them." },
		});
		expect(organization.description).toBe("We make things.\nAnd repair them.");
	});
});
