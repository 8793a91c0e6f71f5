import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	entryText,
	STORED_ENTRY,
	type StoredEntry,
} from "../../src/audit/entry.ts";
import { listLogs } from "../../src/audit/read.ts";
import { type Expectation, verifyLog } from "../../src/audit/verify.ts";
import { makePool, withTenant } from "../../src/db/pool.ts";
import { forgeHashes, makeLog, makeOldLog } from "../support/audit-logs.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

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

/** Runs `sql` as the owner of the database. `$1` is the organization. */
async function tamper(sql: string, organizationId: string): Promise<void> {
	await database.owner.query(
		sql.replaceAll("$1", `'${organizationId}'`).replaceAll("$2", "sequence"),
	);
}

/** Returns an entry's number and its current hash, as an expectation for a later check. */
async function note(
	organizationId: string,
	sequence: number,
): Promise<Expectation> {
	const { rows } = await database.owner.query<{ hash: string }>(
		"select encode(hash, 'hex') as hash from audit_entries where organization_id = $1 and sequence = $2",
		[organizationId, sequence],
	);
	return { organizationId, sequence, hash: rows[0]?.hash ?? "" };
}

test("a log that nobody has changed is intact, and verify returns its newest hash", async () => {
	const organizationId = await makeLog(database, 5);
	const { sequence, hash } = await note(organizationId, 5);
	expect(await verifyLog(reader, organizationId)).toEqual({
		organization_id: organizationId,
		organization_name: "Acme",
		entries: 5,
		redacted: 0,
		erasures: [],
		head: { sequence, hash },
		findings: [],
		finding_count: 0,
	});
});

test("every organization is verified, and one whose log is missing is found", async () => {
	const [whole, emptied, gone] = [
		await makeLog(database),
		await makeLog(database),
		await makeLog(database),
	];
	await tamper("delete from audit_entries where organization_id = $1", emptied);
	await tamper("delete from audit_entries where organization_id = $1", gone);
	await tamper("delete from audit_heads where organization_id = $1", gone);
	expect(await listLogs(reader)).toEqual(
		expect.arrayContaining([whole, emptied, gone]),
	);
	expect((await verifyLog(reader, whole)).findings).toEqual([]);
	expect((await verifyLog(reader, emptied)).findings).toMatchObject([
		{ sequence: 1, problem: expect.stringContaining("cut off") },
	]);
	expect((await verifyLog(reader, gone)).findings).toMatchObject([
		{ sequence: 1, problem: expect.stringContaining("whole log is gone") },
	]);
});

test("entries that were cut off from the end together with the head are found by comparing with an expected entry", async () => {
	const id = await makeLog(database, 5);
	const expected = await note(id, 5);
	await tamper(
		"delete from audit_entries where organization_id = $1 and sequence > 2",
		id,
	);
	await tamper(
		`update audit_heads h set sequence = e.sequence, hash = e.hash
		from audit_entries e
		where h.organization_id = $1 and e.organization_id = $1 and e.sequence = 2`,
		id,
	);
	expect((await verifyLog(reader, id)).findings).toEqual([]);
	expect((await verifyLog(reader, id, [expected])).findings).toMatchObject([
		{ sequence: 5 },
	]);
});

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
	changes: `'{"name": {"after": "Risk 3 "}}'`,
	previous_hash: "sha256('x')",
	hash: "sha256('x')",
	hash_version: "null, digests = null, salts = null",
	digests: `digests || '{"client": "00"}'`,
	salts: `salts || '{"actor_name": "00"}'`,
};

test("the hash of an entry covers every column", async () => {
	const { rows } = await database.owner.query<{ name: string }>(
		"select attname as name from pg_attribute where attrelid = 'audit_entries'::regclass and attnum > 0",
	);
	expect(rows.map(({ name }) => name).sort()).toEqual(
		[...Object.keys(CHANGED_COLUMNS), "organization_id", "sequence"].sort(),
	);
	for (const [column, value] of Object.entries(CHANGED_COLUMNS)) {
		const id = await makeLog(database);
		await tamper(
			`update audit_entries set ${column} = ${value} where organization_id = $1 and sequence = 3`,
			id,
		);
		const { findings } = await verifyLog(reader, id);
		expect(findings, column).toContainEqual({
			sequence: 3,
			problem: expect.stringContaining("was changed"),
		});
	}
});

const ENTRY = "update audit_entries set";
const HERE = "where organization_id = $1";

test.for([
	[
		"the first entry removed",
		`delete from audit_entries ${HERE} and sequence = 1`,
		1,
		"entry 1 is missing",
	],
	[
		"entries removed in the middle",
		`delete from audit_entries ${HERE} and sequence in (3, 4)`,
		3,
		"entries 3 to 4 are missing",
	],
	[
		"the end cut off",
		`delete from audit_entries ${HERE} and sequence >= 4`,
		4,
		"end is cut off: 5 entries were written, but the last one is 3",
	],
	[
		"all entries removed",
		`delete from audit_entries ${HERE}`,
		1,
		"end is cut off",
	],
	[
		"the end cut off and the head's number put back",
		`delete from audit_entries ${HERE} and sequence = 5; update audit_heads set sequence = 4 ${HERE}`,
		null,
		"different hashes",
	],
	[
		"an entry removed and the later ones moved up",
		`delete from audit_entries ${HERE} and sequence = 3; ${ENTRY} sequence = -$2 + 100 ${HERE} and sequence > 3; ${ENTRY} sequence = 99 - $2 ${HERE} and sequence > 90`,
		3,
		"does not continue",
	],
	[
		"an entry inserted",
		`${ENTRY} sequence = 106 - $2 ${HERE} and sequence > 3; ${ENTRY} sequence = 107 - $2 ${HERE} and sequence > 90; insert into audit_entries select organization_id, 4, at, actor_kind, actor_id, actor_name, token_id, token_name, client, address, operation, outcome, record_kind, record_id, 'Forged', changes, hash, sha256('y') from audit_entries ${HERE} and sequence = 3`,
		4,
		"was changed",
	],
	[
		"an entry added without the service",
		`insert into audit_entries select organization_id, 6, at, actor_kind, actor_id, actor_name, token_id, token_name, client, address, operation, outcome, record_kind, record_id, 'Forged', changes, hash, sha256('y') from audit_entries ${HERE} and sequence = 5`,
		6,
		"head names entry 5",
	],
	[
		"two entries swapped",
		`${ENTRY} sequence = 99 ${HERE} and sequence = 2; ${ENTRY} sequence = 2 ${HERE} and sequence = 4; ${ENTRY} sequence = 4 ${HERE} and sequence = 99`,
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
	await tamper(sql, id);
	const { findings } = await verifyLog(reader, id);
	expect(findings).toContainEqual({
		sequence,
		problem: expect.stringContaining(problem),
	});
});

test("an entry that was moved to another organization is found in both", async () => {
	const [from, to] = [await makeLog(database), await makeLog(database, 2)];
	await tamper(
		`update audit_entries set organization_id = '${to}', sequence = 3 ${HERE} and sequence = 5`,
		from,
	);
	for (const id of [from, to]) {
		const { finding_count } = await verifyLog(reader, id);
		expect(finding_count).toBeGreaterThan(0);
	}
});

test("an entry whose own hash was recomputed is found by the entry after it", async () => {
	const id = await makeLog(database);
	await tamper(`${ENTRY} record_name = 'Forged' ${HERE} and sequence = 3`, id);
	await tamper(
		`update audit_entries e set digests = (
			select coalesce(jsonb_object_agg(f.field, encode(sha256(convert_to((e.salts ->> f.field) || f.value, 'UTF8')), 'hex')), '{}')
			from audit_erasable_fields(e) f
		) where e.organization_id = $1 and e.sequence = 3`,
		id,
	);
	await tamper(
		`update audit_entries e set hash = audit_entry_hash(e) where e.organization_id = $1 and e.sequence = 3`,
		id,
	);
	expect((await verifyLog(reader, id)).findings).toEqual([
		{ sequence: 4, problem: expect.stringContaining("does not continue") },
	]);
});

test("if a log was rewritten from some entry on, including its hashes and head, only a hash kept elsewhere reveals it", async () => {
	const id = await makeLog(database);
	const kept = await note(id, 4);
	await tamper(`${ENTRY} record_name = 'Forged' ${HERE} and sequence = 2`, id);
	await forgeHashes(database, id, 2);
	expect((await verifyLog(reader, id)).findings).toEqual([]);
	expect((await verifyLog(reader, id, [kept])).findings).toEqual([
		{ sequence: 4, problem: expect.stringContaining(kept.hash) },
	]);
});

test("entries without digests, which earlier versions wrote, still verify and are still protected", async () => {
	const id = await makeLog(database);
	await makeOldLog(database, id);
	expect((await verifyLog(reader, id)).findings).toEqual([]);
	await tamper(`${ENTRY} record_name = 'Forged' ${HERE} and sequence = 3`, id);
	expect((await verifyLog(reader, id)).findings).toMatchObject([
		{ sequence: 3 },
	]);
});

/**
 * Adds an entry about an erasure that never happened. Only the owner of the database can do this.
 */
function forgeErasure(id: string, listed: string): Promise<void> {
	return tamper(
		`select audit_append($1, jsonb_build_array(jsonb_build_object(
			'actor_kind', 'SYSTEM', 'actor_name', 'x', 'operation', 'eraseUser', 'record_name', 'Erased user 1',
			'changes', jsonb_build_object('redacted_entries', jsonb_build_object('after', jsonb_build_object('4', ${listed})))
		)))`,
		id,
	);
}
const CURRENT_HASH =
	"(select encode(audit_entry_hash(e), 'hex') from audit_entries e where organization_id = $1 and sequence = 4)";

test.for([
	["the hash that the entry has now", CURRENT_HASH],
	["the fields", `'["record_name", "changes.name"]'::jsonb`],
])("a rewritten entry is found although an erasure lists %s, and a hash kept elsewhere protects the contents", async ([
	,
	listed,
]) => {
	const id = await makeLog(database);
	const kept = await note(id, 5);
	await tamper(
		`${ENTRY} record_name = 'Forged', changes = '{"name": {"after": "Forged"}}', salts = salts - '{record_name,changes.name}'::text[] ${HERE} and sequence = 4`,
		id,
	);
	await forgeErasure(id, listed as string);
	const { findings, erasures } = await verifyLog(reader, id, [kept]);
	expect(findings).toMatchObject([{ sequence: 4 }]);
	expect(erasures).toMatchObject([{ sequence: 6, operation: "eraseUser" }]);
});

test("an old entry that does not have the form of an erasure is found although an erasure lists its hash", async () => {
	const id = await makeLog(database);
	await makeOldLog(database, id);
	await tamper(
		`${ENTRY} actor_name = 'bob', record_name = 'Forged' ${HERE} and sequence = 4`,
		id,
	);
	await forgeErasure(id, CURRENT_HASH);
	expect((await verifyLog(reader, id)).findings).toMatchObject([
		{ sequence: 4 },
	]);
});

test("audit_append rejects an organization other than the transaction's", async () => {
	const [own, other] = [await makeLog(database, 1), await makeLog(database, 1)];
	await expect(
		withTenant(database.pool, own, (client) =>
			client.query("select audit_append($1, '[]')", [other]),
		),
	).rejects.toMatchObject({ code: "42501" });
});

test("a log that was cut off before a kept hash is found, and a log that grew since is not", async () => {
	const id = await makeLog(database);
	const [early, late] = [await note(id, 2), await note(id, 5)];
	await tamper(`delete from audit_entries ${HERE} and sequence > 3`, id);
	await forgeHashes(database, id, 1);
	expect((await verifyLog(reader, id, [early])).findings).toEqual([]);
	expect((await verifyLog(reader, id, [early, late])).findings).toEqual([
		{ sequence: 5, problem: expect.stringContaining("ends at 3") },
	]);
});

test("forged functions in the database are found, because verify computes the hashes itself", async () => {
	const id = await makeLog(database);
	await tamper(`${ENTRY} record_name = 'Forged' ${HERE} and sequence = 3`, id);
	await database.owner.query(
		"create or replace function audit_entry_hash(entry audit_entries) returns bytea language sql as 'select entry.hash'",
	);
	const { findings } = await verifyLog(reader, id);
	await database.owner.query(
		"create or replace function audit_entry_hash(entry audit_entries) returns bytea language sql stable return sha256(convert_to(audit_entry_text(entry), 'UTF8'))",
	);
	expect(findings).toHaveLength(1);
});

test("the program and the database compute the same hash for any content and any session settings", async () => {
	const id = await makeLog(database, 0);
	const texts = [
		'"double" and \\ back',
		"tab\t line\n return\r bell\u0007 escape\u001b delete\u007f",
		"separators \u2028 \u2029, emoji 🛡️, Zürich, 東京",
		"\\u0041 \\\\x00 </script>",
		"",
	];
	const changes = {
		number: { before: 1.5, after: 1e21 },
		'key "quoted"': { after: [null, true, { deep: texts }] },
		"": {},
	};
	const client = await database.owner.connect();
	await client.query("set bytea_output = 'escape'");
	await client.query("set timezone = 'Asia/Kathmandu'");
	await client.query("set datestyle = 'German'");
	for (const text of texts) {
		await client.query("select audit_append($1, $2)", [
			id,
			JSON.stringify([
				{
					actor_kind: "TOKEN",
					actor_name: text,
					client: text,
					operation: "addRisk",
					record_name: text,
					changes,
				},
			]),
		]);
	}
	await client.query("reset all");
	client.release();
	// The current time is almost never a whole second, so the test uses fixed times.
	const times = [
		"2026-01-01T00:00:00Z",
		"2026-01-01T10:20:30.1Z",
		"2026-12-31T23:59:50.00001Z",
	];
	const { rows } = await database.owner.query<StoredEntry & { text: string }>(
		`with changed as (
			select (jsonb_populate_record(e, jsonb_build_object('at', a.at))).*
			from audit_entries e cross join unnest($2::text[]) a (at) where e.organization_id = $1
			union all select * from audit_entries where organization_id = $1
		)
		select audit_entry_text(e::audit_entries) as text, ${STORED_ENTRY} from (select * from changed) e`.replace(
			"audit_entry_text(e::audit_entries)",
			"audit_entry_text(row(e.*)::audit_entries)",
		),
		[id, times],
	);
	expect(rows).toHaveLength(texts.length * (times.length + 1));
	for (const { text, ...entry } of rows) {
		expect(entryText(entry as StoredEntry)).toBe(text);
	}
	expect(await verifyLog(reader, id)).toMatchObject({
		entries: 5,
		findings: [],
	});
});

test("verify gives the right result while entries are being added", async () => {
	const id = await makeLog(database, 1);
	const writing = makeMore(id, 30);
	const reports = [];
	for (let round = 0; round < 10; round++) {
		reports.push(await verifyLog(reader, id));
	}
	await writing;
	expect(reports.flatMap(({ findings }) => findings)).toEqual([]);
});

async function makeMore(organizationId: string, count: number): Promise<void> {
	for (let made = 0; made < count; made++) {
		await database.pool.query("select audit_append($1, $2)", [
			organizationId,
			JSON.stringify([
				{ actor_kind: "SYSTEM", actor_name: "x", operation: "addRisk" },
			]),
		]);
	}
}
