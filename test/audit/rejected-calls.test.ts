import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { endShared } from "../support/shared.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	await endShared();
	tools = await startTools();
});
afterAll(async () => {
	vi.useRealTimers();
	await tools.close();
});

async function rejections(operation: string) {
	const { rows } = await tools.database.owner.query(
		`select record_id, changes from audit_entries
		where operation = $1 and outcome = 'REFUSED' order by id`,
		[operation],
	);
	return rows;
}

async function reject(times: number, tool: string, input: object) {
	const answers = await Promise.all(
		Array.from({ length: times }, () =>
			tools.call(tool, input, tools.viewer.token),
		),
	);
	expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
}

test("the first rejected call is logged at once, and an entry at the end of the minute says how many followed", async () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	const input = { organization_id: tools.organizationId, name: "task" };
	await reject(1, "addTask", input);
	await reject(19, "addTask", input);
	expect(await rejections("addTask")).toHaveLength(1);
	vi.advanceTimersByTime(61_000);
	vi.useRealTimers();
	await expect.poll(() => rejections("addTask")).toHaveLength(2);
	expect((await rejections("addTask"))[1]).toEqual({
		record_id: null,
		changes: { further_rejections: { after: 19 } },
	});
	await reject(1, "addTask", input);
	expect(await rejections("addTask")).toHaveLength(3);
});

test("a service that stops logs how many rejected calls followed, separately for each operation", async () => {
	const input = { organization_id: tools.organizationId, name: "vendor" };
	await reject(5, "addVendor", input);
	await reject(1, "addMeasure", { ...input, category: "x" });
	expect(await rejections("addVendor")).toHaveLength(1);
	expect(await rejections("addMeasure")).toHaveLength(1);
	await tools.service.close();
	expect((await rejections("addVendor"))[1]?.changes).toEqual({
		further_rejections: { after: 4 },
	});
	expect(await rejections("addMeasure")).toHaveLength(1);
});
