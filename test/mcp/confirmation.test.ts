import {
	Client,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
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
 * Deletes the measure with a client of a revision. Returns the result and the questions that the
 * client was asked. `answer` is the user's answer; without it, the client cannot ask.
 */
async function remove(pin: string, answer?: object, token = tools.admin.token) {
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
		const call = { name: "deleteMeasure", arguments: { id } };
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
