import { afterAll, beforeAll, expect, test } from "vitest";
import { toAppError } from "../../src/errors.ts";
import { heartbeatBody } from "../support/service.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

/** Runs `work` while another transaction locks the row of `table` with this id. */
async function whileLocked(
	table: string,
	id: string,
	work: () => Promise<void>,
): Promise<void> {
	const holder = await tools.database.owner.connect();
	try {
		await holder.query("begin");
		await holder.query(`select from ${table} where id = $1 for update`, [id]);
		await work();
	} finally {
		await holder.query("rollback");
		holder.release();
	}
}

test("changing a record that stays locked is answered with 503 and Retry-After, and the message says overloaded, not unreachable", async () => {
	const { organizationId: organization_id } = tools;
	const { task } = await tools.use("addTask", { organization_id, name: "one" });
	await whileLocked("tasks", task.id, async () => {
		const { status, headers, body } = await tools.call("updateTask", {
			id: task.id,
			name: "two",
		});
		expect(status).toBe(503);
		expect(headers.get("retry-after")).toMatch(/^\d+$/);
		expect(body.message).toContain("overloaded");
		expect(body.message).not.toContain("cannot reach");
	});
	await tools.use("updateTask", { id: task.id, name: "two" });
});

test("a device whose row stays locked gets 503 with Retry-After, and can report again afterwards", async () => {
	const { id, key, hardwareUuid } = await tools.activateDevice();
	const body = heartbeatBody({ hardware_uuid: hardwareUuid });
	await whileLocked("devices", id, async () => {
		const answer = await tools.post("heartbeat", body, { key });
		expect(answer.status).toBe(503);
		expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
		const { message } = (await answer.json()) as { message: string };
		expect(message).toContain("another change of the device");
	});
	expect((await tools.post("heartbeat", body, { key })).status).toBe(200);
});

test("a slow statement is reported as a slow database, a lock and a deadlock as overloaded, and a rejected connection as unreachable", async () => {
	const client = await tools.database.owner.connect();
	const told = (sql: string) =>
		client.query(sql).then(
			() => "nothing",
			(error: unknown) => {
				const { code, message } = toAppError(error);
				return `${code}: ${message.includes("overloaded") ? "overloaded" : message}`;
			},
		);
	try {
		expect(
			await told(
				"begin; set local statement_timeout to '20ms'; select pg_sleep(10)",
			),
		).toBe(
			"service_unavailable: the service's database is too slow to answer; retry later",
		);
		await client.query("rollback");
		for (const code of ["40P01", "40001", "55P03"]) {
			const sql = `do $$ begin raise 'x' using errcode = '${code}'; end $$`;
			expect(await told(sql), sql).toBe("service_unavailable: overloaded");
		}
		expect(
			await told("do $$ begin raise 'x' using errcode = '57P03'; end $$"),
		).toContain("service_unavailable: the service cannot reach its database");
	} finally {
		client.release();
	}
});
