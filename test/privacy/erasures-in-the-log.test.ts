import { afterAll, beforeAll, expect, test } from "vitest";
import { makePool } from "../../src/db/pool.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { asPrivacy } from "../../src/privacy/privacy-transaction.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { privacyCommands } from "./commands.ts";
import { addPerson } from "./personal-data.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const { run, verify } = privacyCommands(() => calls);

test("hashes that were noted before an erasure still match afterwards", async () => {
	const person = await addPerson(calls);
	const { head } = await verify();
	await run(
		...["person", "erase", "--org", organization_id, "--person", person.id],
	);
	const expected = `${organization_id}:${head?.sequence}:${head?.hash}`;
	// Other files leave forged entries in organizations of the shared database.
	const { code, result } = await run(
		...["audit", "verify", "--org", organization_id, "--expect", expected],
	);
	expect({ code, is_sound: result.is_sound }).toEqual({
		code: 0,
		is_sound: true,
	});
});

/** SQL for the number of a row of audit_entries. */
const NUMBER =
	"(select s.sequence from audit_seals s where s.entry_id = audit_entries.id and s.organization_id = audit_entries.organization_id)";

test("verify finds a redacted entry that was changed again or that no erasure lists", async () => {
	const person = await addPerson(calls);
	await run(
		...["person", "erase", "--org", organization_id, "--person", person.id],
	);
	const { owner } = calls.database;
	const change = (sql: string) =>
		owner.query<{ sequence: string }>(
			`update audit_entries set record_name = $2 where organization_id = $1 and ${sql} returning ${NUMBER} as sequence`,
			[organization_id, "Forged"],
		);
	const restore = async (sequence: string, name: string) =>
		owner.query(
			`update audit_entries set record_name = $3 where organization_id = $1 and ${NUMBER} = $2`,
			[organization_id, sequence, name],
		);
	const { rows: names } = await owner.query<{ record_name: string }>(
		"select record_name from audit_entries where record_id = $1 limit 1",
		[person.id],
	);
	const redacted = await change(
		`record_id = '${person.id}' and operation = 'addPeople'`,
	);
	const sequence = redacted.rows[0]?.sequence ?? "";
	expect((await verify()).findings).toMatchObject([
		{ sequence: Number(sequence) },
	]);
	await restore(sequence, names[0]?.record_name ?? "");
	expect((await verify()).findings).toEqual([]);

	const risk = await change(`record_id = '${person.riskId}'`);
	expect((await verify()).findings).toMatchObject([
		{ sequence: Number(risk.rows[0]?.sequence) },
	]);
	await restore(risk.rows[0]?.sequence ?? "", "Fire");
	expect((await verify()).findings).toEqual([]);
});

test("an entry that does not match its hash is accepted only if an erasure of the same organization lists it", async () => {
	const { owner } = calls.database;
	const forged = await createOrganization(calls.database.pool, "Excused");
	const list = (organization: string, operation: string, sequence: number) =>
		owner.query(
			`select audit_append($1, jsonb_build_array(jsonb_build_object(
				'actor_kind', 'SYSTEM', 'actor_name', 'x', 'operation', $2::text, 'record_name', 'Erased x',
				'changes', jsonb_build_object('redacted_entries', jsonb_build_object(
					'after', jsonb_build_object($3::text, '["record_name"]'::jsonb)
				))
			)))`,
			[organization, operation, sequence],
		);
	await owner.query(
		"update audit_entries set record_name = 'Erased x', salts = salts - 'record_name' where organization_id = $1",
		[forged],
	);
	// These two entries list the changed entry too. However, the first does not come from an erasure,
	// and the second is in another organization.
	await list(forged, "updateRisk", 1);
	await list(organization_id, "eraseUser", 1);
	expect((await verify(forged)).findings).toMatchObject([{ sequence: 1 }]);
	await list(forged, "eraseUser", 1);
	expect(await verify(forged)).toMatchObject({ findings: [], redacted: 1 });
	// An erasure that was changed itself is reported.
	await owner.query(
		`update audit_entries set actor_name = 'y' where organization_id = $1 and ${NUMBER} = 3`,
		[forged],
	);
	expect((await verify(forged)).findings).toMatchObject([{ sequence: 3 }]);
});

test("the database role that erases can neither change an entry's action or hash nor delete an entry", async () => {
	const pool = makePool(
		{ connectionString: calls.database.url },
		{ max: 1, role: "privacy" },
	);
	for (const sql of [
		"update audit_entries set id = 0",
		"update audit_entries set digests = '{}'",
		"update audit_seals set hash = ''",
		"update audit_seals set previous_hash = ''",
		"delete from audit_seals",
		"update audit_entries set operation = 'x'",
		"update audit_entries set at = now()",
		"update audit_entries set record_id = null",
		"delete from audit_entries",
		"update audit_heads set sequence = 1",
		"select password from accounts",
		"select token from sessions",
		"select token_hash from api_tokens",
		"select secret from two_factors",
	]) {
		await expect(pool.query(sql), sql).rejects.toMatchObject({ code: "42501" });
	}
	await pool.end();
});

test("the database role that erases cannot add an entry to an audit log", async () => {
	await expect(
		asPrivacy({ connectionString: calls.database.url }, {}, (client) =>
			client.query("select audit_append($1, '[]')", [organization_id]),
		),
	).rejects.toThrow("permission denied for function audit_append");
});

test("verify prints each erasure, and --expect-erasures counts them", async () => {
	const person = await addPerson(calls);
	await run(
		...["person", "erase", "--org", organization_id, "--person", person.id],
	);
	const { erasures } = await verify();
	expect(erasures.at(-1)).toMatchObject({
		operation: "erasePerson",
		record_id: person.id,
		record_name: expect.stringMatching(/^Erased person /),
	});
	const org = ["--org", organization_id, "--expect-erasures"];
	const count = erasures.length;
	const right = await run("audit", "verify", ...org, String(count));
	expect(right).toMatchObject({ code: 0, result: { is_sound: true } });
	const wrong = await run("audit", "verify", ...org, String(count - 1));
	expect(wrong).toMatchObject({ code: 1, result: { is_sound: false } });
});

test("after an erasure, no salt is left that could confirm a guess, and the other fields still verify", async () => {
	const person = await addPerson(calls);
	const { rows: before } = await calls.database.owner.query(
		"select salts from audit_entries where record_id = $1",
		[person.id],
	);
	await run(
		...["person", "erase", "--org", organization_id, "--person", person.id],
	);
	const { rows: after } = await calls.database.owner.query(
		"select salts from audit_entries where record_id = $1 and operation = 'addPeople'",
		[person.id],
	);
	expect(Object.keys(before[0].salts)).toContain("record_name");
	expect(Object.keys(after[0].salts)).not.toContain("record_name");
	expect(Object.keys(after[0].salts)).not.toContain("changes.full_name");
	expect(Object.keys(after[0].salts)).toContain("actor_name");
	expect(Object.keys(after[0].salts)).toContain("changes.kind");
	await calls.database.owner.query(
		`update audit_entries set changes = changes || '{"kind": {"after": "CONTRACTOR"}}'
		where record_id = $1 and operation = 'addPeople'`,
		[person.id],
	);
	expect((await verify()).findings).toHaveLength(1);
});
