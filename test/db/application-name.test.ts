import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { applicationName } from "../../src/db/application-name.ts";
import { heartbeatBody } from "../support/service.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

interface Seen {
	application_name: string;
	query: string;
}

/**
 * Runs `work` while `lock` is held. Returns the names of the service's connections that wait for a
 * lock meanwhile.
 */
async function whileLocked(
	lock: string,
	work: () => Promise<{ status: number }>,
): Promise<Seen[]> {
	const { owner } = tools.database;
	const readWaiting = async () => {
		const { rows } = await owner.query<Seen>(
			"select application_name, query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
		);
		return rows;
	};
	const client = await owner.connect();
	let seen: Seen[] = [];
	try {
		await client.query(`begin; ${lock}`);
		const working = work();
		await expect
			.poll(async () => (await readWaiting()).length, { interval: 20 })
			.toBe(1);
		// PostgreSQL reads the event after the query, which the first time may still be the one before.
		seen = await readWaiting();
		await client.query("rollback");
		expect((await working).status).toBe(200);
	} finally {
		client.release();
	}
	return seen;
}

const LOCK_TASKS = "lock table tasks in access exclusive mode";

const listTasks = (headers: Record<string, string>) =>
	fetch(`${tools.url}/api/mcp/tools/listTasks`, {
		method: "POST",
		body: JSON.stringify({ organization_id: tools.organizationId }),
		headers: { authorization: `Bearer ${tools.viewer.token}`, ...headers },
	});

test("the database shows which request and operation a connection works for, but only while it does", async () => {
	const id = randomUUID();
	const [seen] = await whileLocked(LOCK_TASKS, () =>
		listTasks({ "x-request-id": id }),
	);
	expect(seen?.application_name).toBe(`assay ${id} listTasks`);
	await expect
		.poll(async () => {
			const { rows } = await tools.database.owner.query<Seen>(
				"select application_name from pg_stat_activity where datname = current_database() and application_name like '%' || $1 || '%'",
				[id],
			);
			return rows;
		})
		.toEqual([]);
});

test("a request without an id is named by the id of its response", async () => {
	let given = "";
	const [seen] = await whileLocked(LOCK_TASKS, async () => {
		const answer = await listTasks({});
		given = answer.headers.get("x-request-id") ?? "";
		return answer;
	});
	expect(given).not.toBe("");
	expect(seen?.application_name).toBe(`assay ${given} listTasks`);
});

test("a caller's id can become neither SQL nor a name longer than PostgreSQL keeps", async () => {
	const injected = "x', true); drop table tasks; --";
	const [hostile] = await whileLocked(LOCK_TASKS, () =>
		listTasks({ "x-request-id": injected }),
	);
	expect(hostile?.application_name).toMatch(/^assay [\w-]+ listTasks$/);
	const [long] = await whileLocked(LOCK_TASKS, () =>
		listTasks({ "x-request-id": "i".repeat(128) }),
	);
	expect(long?.application_name).toBe(`assay ${"i".repeat(57)}`);
	// The name is safe even if such an id got past the door.
	expect(applicationName(injected, "listTasks")).toBe(
		"assay x true drop table tasks -- listTasks",
	);
	expect(applicationName("é\u{1f600}\0\n'\\$1", "x")).toBe("assay 1 x");
});

test("the database distinguishes statements of devices from those of users, and names the batch of a device's statement", async () => {
	const device = await tools.activateDevice();
	const [seen] = await whileLocked(
		`select from devices where id = '${device.id}' for update`,
		() =>
			tools.post(
				"heartbeat",
				heartbeatBody({ hardware_uuid: device.hardwareUuid }),
				{ key: device.key },
			),
	);
	expect(seen?.application_name).toBe("assay devices");
	expect(seen?.query).toContain("agent_store_heartbeats");
});
