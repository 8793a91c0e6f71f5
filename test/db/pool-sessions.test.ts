import { once } from "node:events";
import { type AddressInfo, createServer, Socket } from "node:net";
import { Client, type PoolClient } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openOwnerConnection } from "../../src/backup/owner-connection.ts";
import { migrate } from "../../src/db/migrate.ts";
import { makePool, transaction } from "../../src/db/pool.ts";
import { assertOwnSessions, sessionOf } from "../../src/db/server-sessions.ts";
import { toAppError } from "../../src/errors.ts";
import { asPrivacy } from "../../src/privacy/privacy-transaction.ts";
import { keepReports } from "../../src/retention/retention.ts";
import { nameOfRole } from "../support/database.ts";
import {
	heartbeatBody,
	startService,
	type TestService,
} from "../support/service.ts";
import { endShared } from "../support/shared.ts";

let running: TestService;
beforeAll(async () => {
	await endShared();
	running = await startService();
});
afterAll(() => running.close());

/** Opens a port on which `answer` handles every connection. */
async function listen(answer: (socket: Socket) => void): Promise<string> {
	const server = createServer().on("connection", answer);
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	return `postgres://assay@127.0.0.1:${port}/assay`;
}

test("connections do not compile statements, also if the database's default is to do so", async () => {
	const { owner, url } = running.database;
	const { rows } = await owner.query(
		"select format('alter database %I set jit = on', current_database()) as alter",
	);
	await owner.query(rows[0].alter);
	const pool = makePool({ connectionString: url }, { max: 1 });
	onTestFinished(() => pool.end());
	expect((await pool.query("show jit")).rows).toEqual([{ jit: "off" }]);
});

test("a statement that nobody waits for has one process of the server", async () => {
	const connection = { connectionString: running.database.url };
	const pools = [1, 6].map((timeLimitFactor) =>
		makePool(connection, { max: 1, timeLimitFactor }),
	);
	onTestFinished(async () => {
		await Promise.all(pools.map((pool) => pool.end()));
	});
	const [shortLimits, longLimits] = await Promise.all(
		pools.map(async (pool) => {
			const { rows } = await pool.query("show max_parallel_workers_per_gather");
			return Number(rows[0].max_parallel_workers_per_gather);
		}),
	);
	expect(shortLimits).toBeGreaterThan(0);
	expect(longLimits).toBe(0);
});

/** The startup parameters that PgBouncer accepts in its default configuration. */
const TAKEN = ["application_name", "client_encoding", "database", "user"];

test("the startup message of a connection contains nothing that a pooler rejects", async () => {
	const asked = new Set<string>();
	const connectionString = await listen((socket) => {
		socket.on("error", () => {});
		socket.once("data", (message: Buffer) => {
			const parts = message.subarray(8).toString().split("\0");
			for (let at = 0; parts[at]; at += 2) asked.add(String(parts[at]));
			socket.destroy();
		});
	});
	const connection = { connectionString };
	const pool = makePool(connection, { max: 1 });
	const attempts = await Promise.allSettled([
		pool.query("select"),
		openOwnerConnection(connection, "1s"),
		asPrivacy(connection, {}, async () => {}),
		keepReports(connection, 1),
		migrate(connection),
		assertOwnSessions(connection),
	]);
	await pool.end();
	expect(attempts.map(({ status }) => status)).not.toContain("fulfilled");
	expect([...asked].sort()).toEqual(TAKEN);
});

test("a pool acts as its role and within its limits from the first statement on", async () => {
	for (const role of ["app", "identity", "audit"] as const) {
		const name = await nameOfRole(running.database.owner, role);
		const pool = makePool(
			{ connectionString: running.database.url },
			{ max: 1, role },
		);
		const { rows } = await pool.query(
			"select current_user::text as role, current_setting('statement_timeout') as most, current_setting('idle_in_transaction_session_timeout') as idle, current_setting('timezone') as zone",
		);
		await pool.end();
		expect(rows).toEqual([
			{ role: name, most: "10s", idle: "15s", zone: "UTC" },
		]);
	}
});

test("a pool with a time limit factor has longer limits", async () => {
	const pool = makePool(
		{ connectionString: running.database.url },
		{ max: 1, timeLimitFactor: 20 },
	);
	const { rows } = await pool.query(
		"select current_setting('statement_timeout') as most, current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle",
	);
	const { connectionTimeoutMillis } = pool.options;
	await pool.end();
	expect(rows).toEqual([{ most: "200s", lock: "1min", idle: "5min" }]);
	expect(connectionTimeoutMillis).toBe(100_000);
});

test("the server ends the transaction of a stopped process, which then gets service_unavailable", async () => {
	const { organizationId } = running;
	const pool = makePool({ connectionString: running.database.url }, { max: 1 });
	onTestFinished(() => pool.end());
	const lock =
		"select from organizations where id = $1 and set_config('lock_timeout', '10s', true) is not null for update";
	const isStopped = Promise.withResolvers<void>();
	const isSeen = Promise.withResolvers<void>();
	const stopped = transaction(pool, { organizationId }, async (client) => {
		await client.query(lock, [organizationId]);
		// Every connection of the service has this timeout, which the test shortens.
		await client.query("set idle_in_transaction_session_timeout to '100ms'");
		isStopped.resolve();
		await isSeen.promise;
		await client.query("select");
	}).catch(toAppError);
	await isStopped.promise;
	const other = await running.database.owner.query(lock, [organizationId]);
	expect(other.rowCount).toBe(1);
	isSeen.resolve();
	expect(await stopped).toMatchObject({ code: "service_unavailable" });
	await transaction(pool, { organizationId }, (client) =>
		client.query("select"),
	);
});

test("a connection that is passed on with another role has the owner's role again before the owner's first statement", async () => {
	const client = new Client({ connectionString: running.database.url });
	await client.connect();
	await client.query(sessionOf("identity", { lock_timeout: "7s" }));
	await client.query(sessionOf("none", { lock_timeout: "1s" }));
	const { rows } = await client.query(
		"select current_user = session_user as own, current_setting('lock_timeout') as most",
	);
	await client.end();
	expect(rows).toEqual([{ own: true, most: "1s" }]);
});

test("no transaction leaves an organization or a user on its connection, however it ended", async () => {
	const pool = makePool({ connectionString: running.database.url }, { max: 1 });
	const scope = {
		organizationId: running.organizationId,
		userId: running.organizationId,
	};
	const left = async () => {
		const { rows } = await pool.query(
			"select concat(current_setting('assay.organization_id', true), current_setting('assay.user_id', true)) as text, current_user::text as role",
		);
		return rows[0];
	};
	const nothing = {
		text: "",
		role: await nameOfRole(running.database.owner, "app"),
	};
	await transaction(pool, scope, (client) => client.query("select"));
	expect(await left()).toEqual(nothing);
	await transaction(pool, { ...scope, isReadOnly: true }, (client) =>
		client.query("select"),
	);
	expect(await left()).toEqual(nothing);
	await expect(
		transaction(pool, scope, (client) => client.query("select 1 / 0")),
	).rejects.toThrow("division by zero");
	expect(await left()).toEqual(nothing);
	await pool.end();
});

test("a transaction's opening is sent with its first statement, and a read-only commit with the next statement", async () => {
	let writes = 0;
	class CountingSocket extends Socket {
		override _write(...given: Parameters<Socket["_write"]>) {
			writes++;
			super._write(...given);
		}
		override _writev(...given: Parameters<NonNullable<Socket["_writev"]>>) {
			writes++;
			super._writev?.(...given);
		}
	}
	const pool = makePool(
		{
			connectionString: running.database.url,
			stream: () => new CountingSocket(),
		},
		{ max: 1 },
	);
	const read = (client: PoolClient) =>
		client.query("select $1::text as text", ["one"]);
	const scope = { organizationId: running.organizationId, isReadOnly: true };
	await transaction(pool, scope, read);
	const before = writes;
	for (let number = 0; number < 10; number++) {
		await transaction(pool, scope, read);
	}
	expect(writes - before).toBe(10);
	await pool.end();
});

test("a heartbeat on an open connection is one statement", async () => {
	const { key, hardwareUuid } = await running.activateDevice();
	const body = heartbeatBody({ hardware_uuid: hardwareUuid });
	const beat = async () => {
		const answer = await running.post("heartbeat", body, { key });
		expect(answer.status).toBe(200);
	};
	await beat();
	const { query } = Client.prototype;
	const sent: { client: Client; text: string }[] = [];
	Client.prototype.query = function (this: Client, ...given: unknown[]) {
		sent.push({ client: this, text: JSON.stringify(given[0]) });
		return Reflect.apply(query, this, given);
	} as typeof query;
	try {
		for (let number = 0; number < 20; number++) await beat();
	} finally {
		Client.prototype.query = query;
	}
	// The work in the background has connections of its own.
	const used = new Set(
		sent
			.filter(({ text }) => text.includes("agent_store_heartbeats"))
			.map(({ client }) => client),
	);
	expect(sent.filter(({ client }) => used.has(client))).toHaveLength(20);
});

/** Returns a message of PostgreSQL's protocol. */
function message(type: string, ...parts: (string | Buffer)[]): Buffer {
	const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
	const head = Buffer.alloc(5);
	head.write(type);
	head.writeInt32BE(body.length + 4, 1);
	return Buffer.concat([head, body]);
}

const int = (value: number, bytes = 4): Buffer => {
	const buffer = Buffer.alloc(bytes);
	buffer.writeIntBE(value, 0, bytes);
	return buffer;
};

/**
 * Opens a port that behaves as a pooler. For each query, `serverOf` decides which server process is
 * behind the connection. The first one has the number 0.
 */
function listenAsPooler(serverOf: (connection: number) => number) {
	const ready = message("Z", "I");
	let connections = 0;
	return listen((socket) => {
		const connection = connections++;
		socket.on("error", () => {});
		socket.on("data", (data: Buffer) => {
			if (data[0] === "X".charCodeAt(0)) return void socket.end();
			if (data[0] !== "Q".charCodeAt(0)) {
				const key = message("K", int(900_000 + connection), int(1));
				socket.write(Buffer.concat([message("R", int(0)), key, ready]));
				return;
			}
			const pid = String(serverOf(connection));
			const column = ["pid\0", int(0), int(0, 2), int(23), int(4, 2)];
			socket.write(
				Buffer.concat([
					message("T", int(1, 2), ...column, int(-1), int(0, 2)),
					message("D", int(1, 2), int(pid.length), pid),
					message("C", "SELECT 1\0"),
					ready,
				]),
			);
		});
	});
}

test("a pooler that lends one connection to several clients is rejected", async () => {
	let turn = 0;
	const shared: ((connection: number) => number)[] = [
		() => 1,
		() => 1 + (turn++ % 2),
		() => 1 + (turn++ % 3),
	];
	for (const serverOf of shared) {
		turn = 0;
		const connectionString = await listenAsPooler(serverOf);
		await expect(assertOwnSessions({ connectionString })).rejects.toThrow(
			"set PgBouncer's pool_mode to session",
		);
	}
});

test("a pooler that keeps one server connection for each client connection is accepted", async () => {
	const connectionString = await listenAsPooler((connection) => connection + 7);
	await assertOwnSessions({ connectionString });
	await assertOwnSessions({ connectionString: running.database.url });
});
