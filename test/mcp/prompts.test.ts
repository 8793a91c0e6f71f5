import { afterAll, beforeAll, expect, test } from "vitest";
import { PROMPTS, toolsOf } from "../../src/mcp/prompts.ts";
import { dueDates } from "../../src/records/due-dates.ts";
import { catalogue } from "../support/every-tool.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;

beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const ask = (method: string, params: object = {}, options: object = {}) =>
	tools.rpc({ jsonrpc: "2.0", id: 7, method, params }, options);

async function names(options: object = {}): Promise<string[]> {
	const { body } = await ask("prompts/list", {}, options);
	return body.result.prompts.map(({ name }: { name: string }) => name);
}

const textOf = (name: string) =>
	PROMPTS.find((prompt) => prompt.name === name)?.text({});

test("every prompt names only tools that exist, and says what to ask the person", () => {
	expect(PROMPTS).toHaveLength(5);
	for (const prompt of PROMPTS) {
		const named = toolsOf(prompt);
		expect(named.length, prompt.name).toBeGreaterThan(3);
		for (const name of named) {
			expect(catalogue.tools.has(name), name).toBe(true);
		}
		expect(prompt.text({})).toMatch(/\bask the person\b/i);
	}
});

test("the weekly review lists every kind of overdue record that getOverview counts", () => {
	const text = textOf("weekly_review");
	expect(dueDates.filter(({ isWork }) => !isWork).length).toBeGreaterThan(5);
	for (const { kind, date, only, isWork } of dueDates) {
		expect(text).toContain(`list${kind.tool.many}`);
		if (isWork) continue;
		expect(text).toContain(`${date}_until`);
		if (only) expect(text).toContain(`${only.field} ${only.value}`);
	}
});

test("the review of vendors asks for those that were never reviewed", () => {
	const text = textOf("vendor_review");
	expect(text).toContain('filter empty "last_review_date"');
	expect(text).toContain("next_review_date_until");
	expect(text).toContain("risk rating");
	const { json } = catalogue.tools.get("listVendors") ?? {};
	expect(json).toContain("Empty field, such as last_review_date");
});

test("a caller sees the prompts whose tools the caller may all call", async () => {
	expect(await names()).toEqual(PROMPTS.map(({ name }) => name));
	const { token } = tools.viewer;
	expect(await names({ token })).not.toContain("incident_to_nonconformity");
	expect(await names({ token })).toContain("weekly_review");
	expect(await names({ query: "?toolsets=vendors" })).toEqual([]);
	const hidden = await ask(
		"prompts/get",
		{ name: "incident_to_nonconformity", arguments: { incident: "x" } },
		{ token },
	);
	expect(hidden.body.error).toMatchObject({ code: -32602 });
});

test("a prompt quotes what the person said, and rejects a missing argument", async () => {
	const name = "incident_to_nonconformity";
	const incident = 'A "laptop" was left in a train';
	const { body } = await ask("prompts/get", { name, arguments: { incident } });
	const [message] = body.result.messages;
	expect(message).toMatchObject({ role: "user", content: { type: "text" } });
	expect(message.content.text).toContain(JSON.stringify(incident));
	const empty = await ask("prompts/get", { name });
	expect(empty.body.error).toMatchObject({
		code: -32602,
		message: "incident: is required",
	});
});
