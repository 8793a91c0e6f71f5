import { Pool } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sealAll, startSealer } from "../../src/audit/sealer.ts";
import { verifyLog } from "../../src/audit/verify.ts";
import { makePool } from "../../src/db/pool.ts";
import { makeLog, tamper } from "../support/audit-logs.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

const ENTRY = JSON.stringify([
	{ actor_kind: "SYSTEM", actor_name: "x", operation: "addRisk" },
]);
const APPEND = "select audit_append($1, $2)";

function append(organizationId: string, count = 1): Promise<unknown> {
	return database.owner.query(
		"select audit_append($1, $2) from generate_series(1, $3)",
		[organizationId, ENTRY, count],
	);
}

async function count(organizationId: string) {
	const { rows } = await database.owner.query<{
		entries: number;
		sealed: number;
		newest: number;
	}>(
		`select count(*)::int as entries, count(s.sequence)::int as sealed, max(s.sequence)::int as newest
		from audit_entries e
		left join audit_seals s on s.organization_id = e.organization_id and s.entry_id = e.id
		where e.organization_id = $1`,
		[organizationId],
	);
	return rows[0];
}

async function settledId(): Promise<number> {
	const { rows } = await database.owner.query<{ id: string }>(
		"select settled_id as id from audit_sealing",
	);
	return Number(rows[0]?.id);
}

test("the first entry of a database is sealed although the sealer looked for it before", async () => {
	for (let round = 0; round < 3; round++) await sealAll(database.pool);
	expect(await settledId()).toBe(0);
	const id = await makeLog(database, 1);
	expect(await count(id)).toEqual({ entries: 1, sealed: 1, newest: 1 });
});

test("an entry whose transaction commits after later entries were sealed gets the next number", async () => {
	const id = await makeLog(database, 1);
	const late = await database.owner.connect();
	await late.query("begin");
	await late.query(APPEND, [id, ENTRY]);
	const { rows } = await database.owner.query<{ id: string }>(
		"select last_value as id from audit_entry_ids",
	);
	const lateId = Number(rows[0]?.id);
	for (let round = 0; round < 5; round++) {
		await append(id);
		await sealAll(database.pool);
	}
	expect(await count(id)).toEqual({ entries: 6, sealed: 6, newest: 6 });
	// The open transaction holds the bound back.
	expect(await settledId()).toBeLessThan(lateId);
	await late.query("commit");
	late.release();
	await sealAll(database.pool);
	expect(await count(id)).toEqual({ entries: 7, sealed: 7, newest: 7 });
	await append(id);
	// Transactions of other databases on the server hold the bound back too.
	await expect
		.poll(async () => {
			await sealAll(database.pool);
			return settledId();
		})
		.toBeGreaterThan(lateId);
	expect((await verifyLog(database.owner, id)).findings).toEqual([]);
});

test("an entry of a transaction that was rolled back leaves no gap", async () => {
	const id = await makeLog(database, 1);
	const client = await database.owner.connect();
	await client.query("begin");
	await client.query(APPEND, [id, ENTRY]);
	await client.query("rollback");
	client.release();
	await append(id);
	await sealAll(database.pool);
	expect(await count(id)).toEqual({ entries: 2, sealed: 2, newest: 2 });
});

test("sealing waits for a process that seals for longer than a statement may wait for a lock", async () => {
	const id = await makeLog(database, 0);
	await append(id);
	const erasure = await database.owner.connect();
	await erasure.query("begin");
	await sealAll(erasure);
	await append(id);
	const impatient = new Pool({
		connectionString: database.url,
		max: 1,
		options: "-c lock_timeout=20ms",
	});
	const sealing = sealAll(impatient);
	try {
		// The test fails at once if sealing does not wait.
		await Promise.race([sealing, erasure.query("select pg_sleep(0.5)")]);
		expect(await count(id)).toMatchObject({ entries: 2, sealed: 0 });
	} finally {
		await erasure.query("commit");
		erasure.release();
	}
	await sealing;
	await impatient.end();
	expect(await count(id)).toEqual({ entries: 2, sealed: 2, newest: 2 });
});

test("many writers and several sealers make one chain for each organization without gaps", async () => {
	const ids = [await makeLog(database, 0), await makeLog(database, 0)];
	// With connections of their own, the sealers and writers never wait for one.
	const sealing = makePool({ connectionString: database.url }, { max: 3 });
	let isWriting = true;
	const sealers = Array.from({ length: 3 }, async () => {
		while (isWriting) await sealAll(sealing);
	});
	await Promise.all(
		ids.flatMap((id) =>
			Array.from({ length: 4 }, async () => {
				for (let made = 0; made < 25; made++) {
					await database.pool.query(APPEND, [id, ENTRY]);
				}
			}),
		),
	);
	isWriting = false;
	await Promise.all(sealers);
	await sealing.end();
	await sealAll(database.pool);
	for (const id of ids) {
		expect(await count(id)).toEqual({ entries: 100, sealed: 100, newest: 100 });
		expect((await verifyLog(database.owner, id)).findings).toEqual([]);
	}
});

test("one call seals more entries than one transaction does", async () => {
	const id = await makeLog(database, 0);
	await append(id, 2500);
	await sealAll(database.pool);
	expect(await count(id)).toMatchObject({ sealed: 2500 });
});

test("a log whose end was changed is not continued, and the others are", async () => {
	const [broken, sound] = [
		await makeLog(database, 3),
		await makeLog(database, 3),
	];
	await tamper(
		database,
		"delete from audit_seals where organization_id = $1 and sequence = 3",
		broken,
	);
	await append(broken, 1100);
	await append(sound);
	await sealAll(database.pool);
	expect(await count(broken)).toMatchObject({ sealed: 2 });
	expect(await count(sound)).toMatchObject({ sealed: 4 });

	const lines: { msg: string; organizationId?: string }[] = [];
	const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
	const sealer = startSealer(database.pool, log);
	await append(sound);
	await expect.poll(() => count(sound)).toMatchObject({ sealed: 5 });
	await sealer.stop();
	expect(lines).toMatchObject([
		{ organizationId: broken, msg: expect.stringContaining("not sealed") },
	]);
	await tamper(
		database,
		"delete from audit_entries where organization_id = $1",
		broken,
	);
	await tamper(
		database,
		"delete from audit_seals where organization_id = $1",
		broken,
	);
});

test("an entry that has had no seal for five minutes is a problem where a sealer works", async () => {
	const id = await makeLog(database, 3);
	await tamper(
		database,
		`delete from audit_seals where organization_id = $1 and sequence = 3;
		update audit_heads h set sequence = 2, hash = s.hash from audit_seals s
		where h.organization_id = $1 and s.organization_id = $1 and s.sequence = 2;
		update audit_entries set at = at - interval '10 minutes' where organization_id = $1 and id = #3;
		update audit_sealing set settled_id = (select max(id) from audit_entries)`,
		id,
	);
	const reader = makePool(
		{ connectionString: database.url },
		{ max: 1, role: "audit" },
	);
	await sealAll(reader);
	const report = await verifyLog(reader, id, { isSealing: true });
	expect(report).toMatchObject({
		unsealed: 1,
		findings: [
			{ sequence: null, problem: expect.stringContaining("have no seal") },
		],
	});
	// In a backup, the entries of the last second have no seal either.
	expect(await verifyLog(reader, id)).toMatchObject({
		unsealed: 1,
		findings: [],
	});
	await reader.end();
});
