import { afterAll, beforeAll, expect, test } from "vitest";
import { redactLog } from "../../src/audit/redaction.ts";
import { sealAll } from "../../src/audit/sealer.ts";
import { makePool, transaction } from "../../src/db/pool.ts";
import { makeLog, tamper as tamperWith } from "../support/audit-logs.ts";
import { type Calls, shareCalls } from "../support/calls.ts";

/**
 * verify.test.ts tests what the command finds. This file tests that the operation finds the same,
 * one slice at a time.
 */

let calls: Calls;
/**
 * An organization with a log of several slices. A verification ends at the first entry that is wrong,
 * so each test changes an entry before those that the tests before it changed.
 */
let long: string;
beforeAll(async () => {
	calls = await shareCalls();
	long = await makeLog(calls.database, 0);
	await addMany(long, 3000);
});
afterAll(() => calls.close());

interface Slice {
	entries: number;
	redacted: number;
	first_at: string | null;
	last_at: string | null;
	last: { sequence: number; hash: string } | null;
	newest_sequence: number | null;
	unsealed: number;
	finding: {
		sequence: number | null;
		problem: string;
		is_there: boolean;
	} | null;
	is_complete: boolean;
}

/** Verifies one slice after the other, as the console does. */
async function verify(organization_id: string): Promise<Slice[]> {
	const by = calls.principal("admin", organization_id);
	const slices: Slice[] = [];
	for (;;) {
		const after = slices.at(-1)?.last;
		const slice: Slice = await calls.call(
			"verifyAuditLog",
			{ organization_id, ...(after && { after }) },
			by,
		);
		slices.push(slice);
		if (slice.is_complete) return slices;
	}
}

async function tamper(sql: string, organizationId: string): Promise<void> {
	const changed = await tamperWith(calls.database, sql, organizationId);
	expect(changed).toBeGreaterThan(0);
}

async function addMany(organizationId: string, count: number): Promise<void> {
	await calls.database.owner.query(
		`select audit_append($1, (
			select jsonb_agg(jsonb_build_object('actor_kind', 'SYSTEM', 'actor_name', 'import', 'operation', 'addRisk'))
			from generate_series(1, $2::int)
		))`,
		[organizationId, count],
	);
	await sealAll(calls.database.pool);
}

test("the result for an intact log has its number of entries and the times of the first and the last", async () => {
	const id = await makeLog(calls.database, 5);
	const { rows } = await calls.database.owner.query(
		`select to_char(min(at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as first_at,
			to_char(max(at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as last_at
		from audit_entries where organization_id = $1`,
		[id],
	);
	expect(await verify(id)).toEqual([
		{
			...rows[0],
			entries: 5,
			redacted: 0,
			last: { sequence: 5, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
			newest_sequence: 5,
			unsealed: 0,
			finding: null,
			is_complete: true,
		},
	]);
});

test("a long log is checked in slices, and each continues after the one before, also while entries are added", async () => {
	const adding = addMany(long, 100);
	const slices = await verify(long);
	await adding;
	const count = slices.reduce((sum, { entries }) => sum + entries, 0);
	expect(slices.length).toBeGreaterThan(1);
	expect(count).toBeGreaterThanOrEqual(3000);
	expect(slices.at(-1)?.last?.sequence).toBe(count);
	expect(Math.max(...slices.map(({ entries }) => entries))).toBeLessThan(2200);
	expect(slices.map(({ finding }) => finding)).toEqual(slices.map(() => null));
});

test("a row that the owner of the database changed is found in any slice", async () => {
	await tamper(
		"update audit_entries set actor_name = 'nobody' where organization_id = $1 and id = #2345",
		long,
	);
	const slices = await verify(long);
	expect(slices.at(-1)?.finding).toEqual({
		sequence: 2345,
		problem: expect.stringContaining("entry 2345 was changed"),
		is_there: true,
	});
	expect(slices.slice(0, -1).every(({ finding }) => !finding)).toBe(true);
});

test("an entry that was forged at the end of a slice is found by the next slice, which starts from its hash", async () => {
	const by = calls.principal("admin", long);
	const input = { organization_id: long };
	const { last } = await calls.call("verifyAuditLog", input, by);
	await tamper(
		`update audit_seals set previous_hash = sha256('x') where organization_id = $1 and sequence = ${last.sequence + 1}`,
		long,
	);
	const next = await calls.call(
		"verifyAuditLog",
		{ ...input, after: last },
		by,
	);
	expect(next.finding).toMatchObject({ sequence: last.sequence + 1 });
});

test.for([
	[
		"an entry taken out",
		"delete from audit_seals where organization_id = $1 and sequence = 3",
		3,
		"entry 3 is missing",
	],
	[
		"the end cut off",
		"delete from audit_seals where organization_id = $1 and sequence > 2",
		3,
		"end is cut off",
	],
	[
		"all seals gone",
		"delete from audit_seals where organization_id = $1",
		1,
		"end is cut off",
	],
	[
		"a head gone",
		"delete from audit_heads where organization_id = $1",
		null,
		"head",
	],
] as const)("%s is found", async ([, sql, sequence, problem]) => {
	const id = await makeLog(calls.database, 5);
	await tamper(sql, id);
	const slices = await verify(id);
	expect(slices.at(-1)?.finding).toEqual({
		sequence,
		problem: expect.stringContaining(problem),
		is_there: false,
	});
});

test("entries from which an erasure removed a person are intact, and they are counted", async () => {
	const id = await makeLog(calls.database, 3);
	const { rows } = await calls.database.owner.query<{ record_id: string }>(
		"select record_id from audit_entries where organization_id = $1 order by id limit 1 offset 1",
		[id],
	);
	const pool = makePool(
		{ connectionString: calls.database.url },
		{ max: 1, role: "privacy" },
	);
	const record = { kind: "risk", id: rows[0]?.record_id ?? "" };
	await transaction(pool, { organizationId: id }, (client) =>
		redactLog(client, id, {
			event: "erasePerson",
			record,
			recordIds: [record.id],
			pseudonym: "Erased person",
		}),
	);
	await pool.end();
	await sealAll(calls.database.pool);
	expect(await verify(id)).toMatchObject([
		{ entries: 4, redacted: 1, finding: null, is_complete: true },
	]);
});

test("only administrators may verify, only their own organization, and not through a tool", async () => {
	const id = await makeLog(calls.database, 1);
	const input = { organization_id: id };
	for (const role of ["member", "viewer"] as const) {
		const by = calls.principal(role, id);
		const refused = await calls.refusal("verifyAuditLog", input, by);
		expect(refused.code).toBe("forbidden");
	}
	expect((await calls.refusal("verifyAuditLog", input)).code).toBe("forbidden");
});
