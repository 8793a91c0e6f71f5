import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { verifyLog } from "../../src/audit/verify.ts";
import { makePool } from "../../src/db/pool.ts";
import {
	forgeHashes,
	makeLog,
	makeOldLog,
	noteHash,
	tamper,
} from "../support/audit-logs.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

/** Forgeries with hashes that fit. Some of them only a hash kept elsewhere reveals. */

let database: TestDatabase;
let reader: Pool;
beforeAll(async () => {
	database = await createDatabase();
	reader = makePool(
		{ connectionString: database.url },
		{ max: 1, role: "audit" },
	);
});
afterAll(async () => {
	await reader.end();
	await database.drop();
});

const ENTRY = "update audit_entries set";
const HERE = "where organization_id = $1";

test("entries that were cut off from the end together with the head are found by comparing with an expected entry", async () => {
	const id = await makeLog(database, 5);
	const expected = await noteHash(database, id, 5);
	await tamper(
		database,
		`delete from audit_entries ${HERE} and id > #2; delete from audit_seals ${HERE} and sequence > 2`,
		id,
	);
	await tamper(
		database,
		`update audit_heads h set sequence = s.sequence, hash = s.hash
		from audit_seals s
		where h.organization_id = $1 and s.organization_id = $1 and s.sequence = 2`,
		id,
	);
	expect((await verifyLog(reader, id)).findings).toEqual([]);
	const { findings } = await verifyLog(reader, id, {
		expectations: [expected],
	});
	expect(findings).toMatchObject([{ sequence: 5 }]);
});

test("if a log was rewritten from some entry on, including its hashes and head, only a hash kept elsewhere reveals it", async () => {
	const id = await makeLog(database);
	const kept = await noteHash(database, id, 4);
	await tamper(
		database,
		`${ENTRY} record_name = 'Forged' ${HERE} and id = #2`,
		id,
	);
	await forgeHashes(database, id, 2);
	expect((await verifyLog(reader, id)).findings).toEqual([]);
	expect(
		(await verifyLog(reader, id, { expectations: [kept] })).findings,
	).toEqual([{ sequence: 4, problem: expect.stringContaining(kept.hash) }]);
});

test("a log that was cut off before a kept hash is found, and a log that grew since is not", async () => {
	const id = await makeLog(database);
	const [early, late] = [
		await noteHash(database, id, 2),
		await noteHash(database, id, 5),
	];
	await tamper(
		database,
		`delete from audit_entries ${HERE} and id > #3; delete from audit_seals ${HERE} and sequence > 3`,
		id,
	);
	await forgeHashes(database, id, 1);
	expect(
		(await verifyLog(reader, id, { expectations: [early] })).findings,
	).toEqual([]);
	expect(
		(await verifyLog(reader, id, { expectations: [early, late] })).findings,
	).toEqual([{ sequence: 5, problem: expect.stringContaining("ends at 3") }]);
});

test("entries without digests, which earlier versions wrote, still verify and are still protected", async () => {
	const id = await makeLog(database);
	await makeOldLog(database, id);
	expect((await verifyLog(reader, id)).findings).toEqual([]);
	await tamper(
		database,
		`${ENTRY} record_name = 'Forged' ${HERE} and id = #3`,
		id,
	);
	expect((await verifyLog(reader, id)).findings).toMatchObject([
		{ sequence: 3 },
	]);
});

/**
 * Adds an entry about an erasure that never happened. Only the owner of the database can do this.
 */
async function forgeErasure(id: string, listed: string): Promise<void> {
	await tamper(
		database,
		`select audit_append($1, jsonb_build_array(jsonb_build_object(
			'actor_kind', 'SYSTEM', 'actor_name', 'x', 'operation', 'eraseUser', 'record_name', 'Erased user 1',
			'changes', jsonb_build_object('redacted_entries', jsonb_build_object('after', jsonb_build_object('4', ${listed})))
		)))`,
		id,
	);
	await sealAll(database.pool);
}
const CURRENT_HASH = `(
	select encode(audit_entry_hash(e, s.sequence, s.previous_hash), 'hex') from audit_entries e, audit_seals s
	where e.organization_id = $1 and e.id = #4 and s.organization_id = $1 and s.entry_id = #4
)`;

test.for([
	["the hash that the entry has now", CURRENT_HASH],
	["the fields", `'["record_name", "changes.name"]'::jsonb`],
])("a rewritten entry is found although an erasure lists %s, and a hash kept elsewhere protects the contents", async ([
	,
	listed,
]) => {
	const id = await makeLog(database);
	const kept = await noteHash(database, id, 5);
	await tamper(
		database,
		`${ENTRY} record_name = 'Forged', changes = '{"name": {"after": "Forged"}}', salts = salts - '{record_name,changes.name}'::text[] ${HERE} and id = #4`,
		id,
	);
	await forgeErasure(id, listed as string);
	const { findings, erasures } = await verifyLog(reader, id, {
		expectations: [kept],
	});
	expect(findings).toMatchObject([{ sequence: 4 }]);
	expect(erasures).toMatchObject([{ sequence: 6, operation: "eraseUser" }]);
});

test("an old entry that does not have the form of an erasure is found although an erasure lists its hash", async () => {
	const id = await makeLog(database);
	await makeOldLog(database, id);
	await tamper(
		database,
		`${ENTRY} actor_name = 'bob', record_name = 'Forged' ${HERE} and id = #4`,
		id,
	);
	await forgeErasure(id, CURRENT_HASH);
	expect((await verifyLog(reader, id)).findings).toMatchObject([
		{ sequence: 4 },
	]);
});
