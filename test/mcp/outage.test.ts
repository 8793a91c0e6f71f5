import { afterAll, beforeAll, expect, test } from "vitest";
import { makePool, transaction } from "../../src/db/pool.ts";
import { toAppError } from "../../src/errors.ts";
import {
	type DatabaseProxy,
	openDatabaseProxy,
} from "../support/database-proxy.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let proxy: DatabaseProxy;
beforeAll(async () => {
	tools = await startTools(async (url) => {
		proxy = await openDatabaseProxy(url);
		return proxy.url;
	});
});
afterAll(() => tools.close());

const call = {
	jsonrpc: "2.0",
	id: 7,
	method: "tools/call",
	params: { name: "listOrganizations", arguments: {} },
};

test("while the database cannot be reached, every door answers 503 with Retry-After, never 401", async () => {
	expect((await tools.rpc(call)).status).toBe(200);
	await proxy.cut();
	const health = await fetch(`${tools.url}/api/mcp/health`, {
		headers: { authorization: `Bearer ${tools.admin.token}` },
	});
	const answers = [
		{
			status: health.status,
			body: await health.json(),
			headers: health.headers,
		},
		await tools.rpc(call),
		await tools.call("listOrganizations"),
	];
	for (const { status, body, headers } of answers) {
		expect(status).toBe(503);
		expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
		expect(headers.get("www-authenticate")).toBeNull();
		expect(JSON.stringify(body)).not.toMatch(/ECONN|pg|127\.0\.0\.1/);
	}
	// The service still rejects requests that it can judge without the database.
	expect((await tools.rpc(call, { token: "nonsense" })).status).toBe(401);
	await proxy.restore();
	await expect.poll(async () => (await tools.rpc(call)).status).toBe(200);
});

test("an internal error in a tool is a JSON-RPC error with HTTP 500 that reveals nothing", async () => {
	await tools.database.owner.query("alter table risks rename to gone");
	try {
		const input = { organization_id: tools.organizationId };
		const params = { name: "listRisks", arguments: input };
		const rpc = await tools.rpc({ ...call, params });
		expect(rpc.status).toBe(500);
		expect(rpc.body).toEqual({
			jsonrpc: "2.0",
			id: 7,
			error: {
				code: -32603,
				message: expect.stringContaining("internal error"),
			},
		});
		const plain = await tools.call("listRisks", input);
		expect(plain.status).toBe(500);
		expect(plain.body).toEqual({
			error: "internal_server_error",
			message: expect.stringContaining("internal error"),
		});
	} finally {
		await tools.database.owner.query("alter table gone rename to risks");
	}
});

test("if the database disappears during a call, the answer is a JSON-RPC error with HTTP 503", async () => {
	const lock = await tools.database.owner.connect();
	try {
		await lock.query("begin");
		await lock.query("lock table risks in access exclusive mode");
		const params = {
			name: "listRisks",
			arguments: { organization_id: tools.organizationId },
		};
		const answer = tools.rpc({ ...call, params });
		await expect
			.poll(async () => {
				const { rows } = await lock.query(
					"select 1 from pg_locks l join pg_database d on d.oid = l.database where d.datname = current_database() and not l.granted",
				);
				return rows.length;
			})
			.toBe(1);
		await proxy.cut();
		const { status, body, headers } = await answer;
		expect(status).toBe(503);
		expect(headers.get("retry-after")).toBeTruthy();
		expect(body).toMatchObject({ id: 7, error: { code: -32603 } });
	} finally {
		await lock.query("rollback");
		lock.release();
		await proxy.restore();
	}
});

test("if the database disappears between two statements of a transaction, the error is service_unavailable", async () => {
	const pool = makePool({ connectionString: proxy.url }, { max: 1 });
	try {
		const error = await transaction(pool, {}, async (client) => {
			const cut = new Promise((resolve) => client.once("error", resolve));
			await client.query("select 1");
			await proxy.cut();
			await cut;
			await client.query("select 2");
		}).catch(toAppError);
		expect(error).toMatchObject({ code: "service_unavailable" });
	} finally {
		await proxy.restore();
		await pool.end();
	}
});
