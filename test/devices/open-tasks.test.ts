import { afterAll, beforeAll, expect, test } from "vitest";
import { postureResult } from "../support/service.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { keepDevicesNow } from "../support/upkeep.ts";

let assay: TestTools;
let organization_id: string;
beforeAll(async () => {
	assay = await shareTools();
	organization_id = assay.organizationId;
});
afterAll(() => assay.close());

const daysAgo = (days: number) =>
	new Date(Date.now() - days * 86_400_000).toISOString();

test("a failing check of a device has its open tasks, with who does them and until when, and no others", async () => {
	const device = await assay.activateDevice();
	await assay.database.owner.query(
		"update devices set activated_at = now() - interval '100 days' where id = $1",
		[device.id],
	);
	const statuses = {
		FIREWALL_ENABLED: "FAIL",
		SCREEN_LOCK: "UNKNOWN",
		TIME_SYNC: "PASS",
	};
	for (const days of [6, 4, 2, 0]) {
		const results = Object.entries(statuses).map(([check_key, status]) =>
			postureResult({ check_key, status, observed_at: daysAgo(days) }),
		);
		await assay.post("postures", { results }, { key: device.key });
	}
	await keepDevicesNow(assay.database.pool, organization_id);
	const read = async (): Promise<Json> => {
		const found = await assay.use("getDevice", { id: device.id });
		return Object.fromEntries(
			found.device.postures.map((posture: Json) => [
				posture.check_key,
				posture,
			]),
		);
	};
	const { FIREWALL_ENABLED: firewall } = await read();
	expect(firewall.open_tasks).toBeUndefined();
	const { people: person } = await assay.use("addPeople", {
		organization_id,
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const add = async (name: string, more: Json = {}): Promise<string> =>
		(await assay.use("addTask", { organization_id, name, ...more })).task.id;
	const linked_record_ids = [device.id];
	const own = await add("Host firewall on laptop", {
		linked_record_ids,
		assigned_to_id: person.id,
		deadline: "2030-01-31",
	});
	const byDescription = await add("Ask the provider", {
		description: "FIREWALL_ENABLED fails",
		linked_record_ids,
	});
	const renamed = await add("Talk to the owner", {
		linked_record_ids: [device.id, firewall.nonconformity_id],
	});
	await add("Host firewall on another device");
	await add("Replace the battery", { linked_record_ids });
	await add("Host firewall, done", { linked_record_ids, state: "DONE" });
	await add("System clock synchronization", { linked_record_ids });
	const { open_tasks: tasks } = (await read()).FIREWALL_ENABLED;
	expect(tasks).toHaveLength(3);
	expect(tasks[0]).toEqual({
		id: own,
		name: "Host firewall on laptop",
		assigned_to_name: "Ada Lovelace",
		deadline: "2030-01-31",
	});
	expect(tasks.map(({ id }: Json) => id).slice(1)).toEqual([
		byDescription,
		renamed,
	]);
	// A check that passes needs no task, and one without a task has none.
	const others = await read();
	expect(others.TIME_SYNC.open_tasks).toBeUndefined();
	expect(others.SCREEN_LOCK.open_tasks).toBeUndefined();
	await assay.use("updateTask", { id: own, state: "DONE" });
	expect((await read()).FIREWALL_ENABLED.open_tasks).toHaveLength(2);
});
