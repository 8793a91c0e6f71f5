import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLog } from "../../src/audit/verify.ts";
import { makePool } from "../../src/db/pool.ts";
import { makeLog, tamper } from "../support/audit-logs.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

/** Changes that only the owner of the database can make, and what `audit verify` says of them. */

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
const SEAL = "update audit_seals set";
const HERE = "where organization_id = $1";

/** For each column, a change that leaves the entry in its place. */
const CHANGED_COLUMNS: Record<string, string> = {
	at: "at + interval '1 microsecond'",
	actor_kind: "'USER'",
	actor_id: "'somebody'",
	actor_name: "actor_name || ' '",
	token_id: "'token'",
	token_name: "''",
	client: "'curl'",
	address: "'127.0.0.1'",
	operation: "'addrisk'",
	outcome: "'REFUSED'",
	record_kind: "null",
	record_id: "null",
	record_name: "'Risk 4'",
	import_id: "organization_id",
	changes: `'{"name": {"after": "Risk 3 "}}'`,
	hash_version: "null, digests = null, salts = null",
	digests: `digests || '{"client": "00"}'`,
	salts: `salts || '{"actor_name": "00"}'`,
};

test("the hash of an entry covers every column", async () => {
	const { rows } = await database.owner.query<{ name: string }>(
		"select attname as name from pg_attribute where attrelid = 'audit_entries'::regclass and attnum > 0 and not attisdropped",
	);
	expect(rows.map(({ name }) => name).sort()).toEqual(
		[...Object.keys(CHANGED_COLUMNS), "organization_id", "id"].sort(),
	);
	for (const [column, value] of Object.entries(CHANGED_COLUMNS)) {
		const id = await makeLog(database);
		await tamper(
			database,
			`update audit_entries set ${column} = ${value} ${HERE} and id = #3`,
			id,
		);
		const { findings } = await verifyLog(reader, id);
		expect(findings, column).toContainEqual({
			sequence: 3,
			problem: expect.stringContaining("was changed"),
		});
	}
});

test.for([
	["number", "sequence = 99"],
	["entry", "entry_id = 0"],
	["previous hash", "previous_hash = sha256('x')"],
	["hash", "hash = sha256('x')"],
])("a changed %s of a seal is found", async ([, change]) => {
	const id = await makeLog(database);
	await tamper(database, `${SEAL} ${change} ${HERE} and sequence = 3`, id);
	const { findings } = await verifyLog(reader, id);
	expect(findings[0]).toMatchObject({ sequence: 3 });
});

test.for([
	[
		"the first entry removed",
		`delete from audit_entries ${HERE} and id = #1`,
		1,
		"entry 1 is missing: only its seal remains",
	],
	[
		"the first entry removed with its seal",
		`delete from audit_entries ${HERE} and id = #1; delete from audit_seals ${HERE} and sequence = 1`,
		1,
		"entry 1 is missing",
	],
	[
		"seals removed in the middle",
		`delete from audit_seals ${HERE} and sequence in (3, 4)`,
		3,
		"entries 3 to 4 are missing",
	],
	[
		"the end cut off",
		`delete from audit_entries ${HERE} and id >= #4; delete from audit_seals ${HERE} and sequence >= 4`,
		4,
		"end is cut off: 5 entries were written, but the last one is 3",
	],
	["all seals removed", `delete from audit_seals ${HERE}`, 1, "end is cut off"],
	[
		"the end cut off and the head's number put back",
		`delete from audit_seals ${HERE} and sequence = 5; update audit_heads set sequence = 4 ${HERE}`,
		null,
		"different hashes",
	],
	[
		"an entry removed and the later ones moved up",
		`delete from audit_seals ${HERE} and sequence = 3; ${SEAL} sequence = -sequence + 100 ${HERE} and sequence > 3; ${SEAL} sequence = 99 - sequence ${HERE} and sequence > 90`,
		3,
		"does not continue",
	],
	[
		"an entry inserted",
		`${SEAL} sequence = 106 - sequence ${HERE} and sequence > 3; ${SEAL} sequence = 107 - sequence ${HERE} and sequence > 90;
		insert into audit_entries select (jsonb_populate_record(e, '{"id": 1, "record_name": "Forged"}')).* from audit_entries e ${HERE} and id = #3;
		insert into audit_seals select organization_id, 4, 1, hash, sha256('y') from audit_seals ${HERE} and sequence = 3`,
		4,
		"was changed",
	],
	[
		"a seal added without the service",
		`insert into audit_seals select organization_id, 6, 1, hash, sha256('y') from audit_seals ${HERE} and sequence = 5`,
		6,
		"head names entry 5",
	],
	[
		"two entries swapped",
		`${SEAL} entry_id = 99 ${HERE} and sequence = 2; ${SEAL} entry_id = #2 ${HERE} and sequence = 4; ${SEAL} entry_id = #4 ${HERE} and sequence = 2`,
		2,
		"was changed",
	],
	[
		"the head's hash changed",
		`update audit_heads set hash = sha256('z') ${HERE}`,
		null,
		"different hashes",
	],
	[
		"the head's number changed",
		`update audit_heads set sequence = 4 ${HERE}`,
		5,
		"head names entry 4",
	],
	["the head removed", `delete from audit_heads ${HERE}`, null, "head"],
] as const)("verify finds %s", async ([, sql, sequence, problem]) => {
	const id = await makeLog(database);
	await tamper(database, sql, id);
	const { findings } = await verifyLog(reader, id);
	expect(findings).toContainEqual({
		sequence,
		problem: expect.stringContaining(problem),
	});
});

test("an entry that was moved to another organization is found in both", async () => {
	const [from, to] = [await makeLog(database), await makeLog(database, 2)];
	await tamper(
		database,
		`update audit_entries set organization_id = '${to}' ${HERE} and id = #5;
		update audit_seals set organization_id = '${to}', sequence = 3 ${HERE} and sequence = 5`,
		from,
	);
	for (const id of [from, to]) {
		const { finding_count } = await verifyLog(reader, id);
		expect(finding_count).toBeGreaterThan(0);
	}
});

test("an entry whose own hash was recomputed is found by the entry after it", async () => {
	const id = await makeLog(database);
	await tamper(
		database,
		`${ENTRY} record_name = 'Forged' ${HERE} and id = #3`,
		id,
	);
	await tamper(
		database,
		`update audit_entries e set digests = (
			select coalesce(jsonb_object_agg(f.field, encode(sha256(convert_to((e.salts ->> f.field) || f.value, 'UTF8')), 'hex')), '{}')
			from audit_erasable_fields(e) f
		) where e.organization_id = $1 and e.id = #3`,
		id,
	);
	await tamper(
		database,
		`update audit_seals s set hash = audit_entry_hash(e, s.sequence, s.previous_hash) from audit_entries e
		where e.organization_id = $1 and e.id = #3 and s.organization_id = $1 and s.entry_id = #3`,
		id,
	);
	expect((await verifyLog(reader, id)).findings).toEqual([
		{ sequence: 4, problem: expect.stringContaining("does not continue") },
	]);
});

test("forged functions in the database are found, because verify computes the hashes itself", async () => {
	const id = await makeLog(database);
	await tamper(
		database,
		`${ENTRY} record_name = 'Forged' ${HERE} and id = #3`,
		id,
	);
	await database.owner.query(
		`create or replace function audit_entry_hash(entry audit_entries, p_sequence bigint, p_previous_hash bytea)
		returns bytea language sql as 'select s.hash from audit_seals s where s.sequence = p_sequence'`,
	);
	const { findings } = await verifyLog(reader, id);
	await database.owner.query(
		`create or replace function audit_entry_hash(entry audit_entries, p_sequence bigint, p_previous_hash bytea)
		returns bytea language sql stable
		return sha256(convert_to(audit_entry_text(entry, p_sequence, p_previous_hash), 'UTF8'))`,
	);
	expect(findings).toHaveLength(1);
});
