import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeatBody, readError } from "../support/service.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

/** More calls than there are database connections and places in the queue for one. */
const CROWD = 300;

test("many stuck tool calls do not delay devices, and the surplus calls get 503 with Retry-After", async () => {
	const { organizationId: organization_id, database } = tools;
	const device = await tools.activateDevice();
	await tools.use("addTask", { organization_id, name: "first" });
	const holder = await database.owner.connect();
	await holder.query("begin");
	await holder.query("select from organizations where id = $1 for update", [
		organization_id,
	]);
	const calls = Array.from({ length: CROWD }, (_, number) =>
		tools.call("addTask", { organization_id, name: `task ${number}` }),
	);
	// The first response is for a call that was turned away.
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

/**
 * Locks an organization's row. All new rows of the organization refer to it.
 */
async function holdOrganization(
	organizationId: string,
): Promise<() => Promise<void>> {
	const holder = await tools.database.owner.connect();
	await holder.query("begin");
	await holder.query("select from organizations where id = $1 for update", [
		organizationId,
	]);
	return async () => {
		await holder.query("rollback");
		holder.release();
	};
}

test("changes that wait for a lock in one organization do not delay another organization's changes or the health check, and time out with 503", async () => {
	const { organizationId: organization_id, otherOrganizationId } = tools;
	await tools.use("addTask", { organization_id, name: "before" });
	const users = await Promise.all(
		Array.from({ length: 4 }, () =>
			tools.makeUser({ [organization_id]: "member" }),
		),
	);
	const letGo = await holdOrganization(organization_id);
	const calls = Promise.all(
		users.flatMap(({ token }) =>
			Array.from({ length: 10 }, (_, number) =>
				tools.call(
					"addTask",
					{ organization_id, name: `held ${number}` },
					token,
				),
			),
		),
	);
	const other = await tools.call(
		"addTask",
		{ organization_id: otherOrganizationId, name: "elsewhere" },
		tools.stranger.token,
	);
	expect(other.status).toBe(200);
	for (const name of ["live", "ready"]) {
		expect((await fetch(`${tools.url}/health/${name}`)).status).toBe(200);
	}
	for (const { status, body, headers } of await calls) {
		expect(status).toBe(503);
		expect(body.message).toMatch(/overloaded|too many (calls|changes)/);
		expect(headers.get("retry-after")).toMatch(/^\d+$/);
	}
	await letGo();
	const { rows } = await tools.database.owner.query(
		"select count(*)::int as tasks from tasks where name like 'held %'",
	);
	expect(rows[0].tasks).toBe(0);
	await tools.use("addTask", { organization_id, name: "afterwards" });
});

test("while heartbeats are stuck, new ones are turned away unread, never with 401 and without closing the connection, until the service recovers", async () => {
	const { key, hardwareUuid } = await tools.activateDevice();
	const body = heartbeatBody({ hardware_uuid: hardwareUuid });
	const holder = await tools.database.owner.connect();
	await holder.query("begin; lock table devices in access exclusive mode");
	const answers: Promise<Response>[] = [];
	let refused: Response | undefined;
	while (!refused) {
		const answer = tools.post("heartbeat", body, { key });
		answers.push(answer);
		answer.then((response) => {
			if (response.status === 503) refused ??= response;
		});
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	expect(await readError(refused)).toMatchObject({
		error: "service_unavailable",
		message: expect.stringContaining("overloaded"),
	});
	expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
	expect(refused.headers.get("connection")).not.toBe("close");
	const nonsense = await tools.post("heartbeat", "{", { key: "nonsense" });
	expect([401, 503]).toContain(nonsense.status);
	await holder.query("rollback");
	holder.release();
	const statuses = (await Promise.all(answers)).map(({ status }) => status);
	expect(new Set([...statuses, 200, 503])).toEqual(new Set([200, 503]));
	await expect
		.poll(async () => (await tools.post("heartbeat", body, { key })).status)
		.toBe(200);
});
