import {
	Client,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import {
	afterAll,
	beforeAll,
	beforeEach,
	describe,
	expect,
	test,
} from "vitest";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let id: string;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());
beforeEach(async () => {
	const { measure } = await tools.use("addMeasure", {
		organization_id: tools.organizationId,
		name: 'Locks "at" doors',
		category: "Offices",
	});
	id = measure.id;
});

const exists = async () =>
	(await tools.call("getMeasure", { id })).status === 200;

/**
 * Deletes the measure, or makes another call, with a client of a revision. Returns the result and the questions that the
 * client was asked. `answer` is the user's answer; without it, the client cannot ask.
 */
async function remove(
	pin: string,
	answer?: object,
	token = tools.admin.token,
	call: { name: string; arguments: Record<string, unknown> } = {
		name: "deleteMeasure",
		arguments: { id },
	},
) {
	const questions: string[] = [];
	const client = new Client(
		{ name: "assay-test", version: "1" },
		{
			capabilities: answer ? { elicitation: { form: {} } } : {},
			versionNegotiation: { mode: pin === "2026-07-28" ? { pin } : "legacy" },
		},
	);
	if (answer) {
		client.setRequestHandler("elicitation/create", ({ params }) => {
			questions.push(params.message);
			return answer as { action: "accept" };
		});
	}
	const address = new URL(`${tools.url}/api/mcp/v1`);
	const headers = { authorization: `Bearer ${token}` };
	await client.connect(
		new StreamableHTTPClientTransport(address, { requestInit: { headers } }),
	);
	try {
		const result = await client.callTool(call).catch((error) => ({ error }));
		return { result, questions };
	} finally {
		await client.close();
	}
}

const YES = { action: "accept", content: { confirm: true } };

test("a client of 2026-07-28 that can ask its user asks before a record is deleted", async () => {
	const { result, questions } = await remove("2026-07-28", YES);
	expect(questions).toEqual(['Delete a measure: "Locks \\"at\\" doors"?']);
	expect(result).toMatchObject({
		structuredContent: { deleted_measure_id: id },
	});
	expect(await exists()).toBe(false);
});

test.each([
	{ action: "decline" },
	{ action: "cancel" },
	{ action: "accept", content: { confirm: false } },
])("nothing is deleted if the user answers %j", async (answer) => {
	const { result, questions } = await remove("2026-07-28", answer);
	expect(questions).toHaveLength(1);
	expect(result).toMatchObject({ isError: true });
	expect(await exists()).toBe(true);
});

test("a client that cannot ask, and one of an earlier revision, delete as before", async () => {
	const { result } = await remove("2026-07-28");
	expect(result).toMatchObject({
		structuredContent: { deleted_measure_id: id },
	});
	expect(await exists()).toBe(false);
});

test("a client of an earlier revision is never asked", async () => {
	const { questions } = await remove("2025-11-25", YES);
	expect(questions).toEqual([]);
	expect(await exists()).toBe(false);
});

test("a caller who may not delete is rejected without a question", async () => {
	const { token } = tools.member;
	const { questions } = await remove("2026-07-28", YES, token);
	expect(questions).toEqual([]);
	expect(await exists()).toBe(true);
});

describe("the question names", () => {
	const NO = { action: "decline" };
	const question = async (name: string, input: Record<string, unknown>) => {
		const { questions } = await remove("2026-07-28", NO, undefined, {
			name,
			arguments: { organization_id: tools.organizationId, ...input },
		});
		return questions;
	};
	const addDevice = async (name: string) =>
		(await tools.use("addDevice", { name })).device.id;

	test("a record that is given by its reference id, as lists do", async () => {
		const { nonconformity } = await tools.use("addNonconformity", {
			title: "Doors stay open",
		});
		expect(
			await question("deleteNonconformity", { id: nonconformity.reference_id }),
		).toEqual([
			`Delete a nonconformity: "${nonconformity.reference_id} Doors stay open"?`,
		]);
	});

	test("each device, up to ten", async () => {
		const device_ids = [];
		for (let n = 1; n <= 12; n++)
			device_ids.push(await addDevice(`laptop ${n}`));
		const [text] = await question("revokeDevices", { device_ids });
		expect(text).toMatch(
			/^Revoke devices: ("laptop \d+", ){9}"laptop \d+" and 2 more\?$/,
		);
		const { device } = await tools.use("getDevice", { id: device_ids[0] });
		expect(device.status).not.toBe("REVOKED");
	});

	test("a member", async () => {
		const leaving = await tools.makeUser({ [tools.organizationId]: "member" });
		const [text] = await question("removeMember", { user_id: leaving.id });
		expect(text).not.toContain(leaving.id);
		expect((await tools.call("listRisks", {}, leaving.token)).status).toBe(200);
	});
});

test("a call that would fail gets its error, and no question", async () => {
	const call = (input: Record<string, unknown>) =>
		remove("2026-07-28", YES, undefined, {
			name: "deleteMeasure",
			arguments: input,
		});
	for (const [given, words] of [
		["zz", "id: must"],
		[`${id.slice(0, -2)}zz`, "there is no measure"],
	] as const) {
		const { result, questions } = await call({ id: given });
		expect(questions).toEqual([]);
		expect(result).toMatchObject({ isError: true });
		expect(JSON.stringify(result)).toContain(words);
	}
	expect(await exists()).toBe(true);
});
