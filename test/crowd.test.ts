import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeatBody } from "./service.ts";
import { startTools, type TestTools } from "./tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

/** More than have a connection to the database or may wait for one. */
const CROWD = 300;

test("a crowd of tool calls that get no further takes no device's turn, and its surplus is refused with 503 and Retry-After", async () => {
	const { organizationId: organization_id, database } = tools;
	const device = await tools.activateDevice();
	await tools.use("addTask", { organization_id, name: "first" });
	const holder = await database.owner.connect();
	await holder.query("begin");
	await holder.query(
		"select from audit_heads where organization_id = $1 for update",
		[organization_id],
	);
	const calls = Array.from({ length: CROWD }, (_, number) =>
		tools.call("addTask", { organization_id, name: `task ${number}` }),
	);
	// The first to be answered at all is one that was refused.
	const refused = await Promise.race(calls);
	expect(refused.status).toBe(503);
	expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);

	const { key, hardwareUuid } = device;
	const body = heartbeatBody({ hardware_uuid: hardwareUuid });
	const beat = await tools.post("heartbeat", body, { key });
	expect(beat.status).toBe(200);

	await holder.query("commit");
	holder.release();
	const statuses = (await Promise.all(calls)).map(({ status }) => status);
	expect(new Set(statuses)).toEqual(new Set([200, 503]));
	const { rows } = await database.owner.query(
		"select count(*)::int as tasks from tasks where name like 'task %'",
	);
	const acknowledged = statuses.filter((status) => status === 200).length;
	expect(rows[0].tasks).toBe(acknowledged);
});
