import { afterAll, beforeAll, expect, test } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { verifyLog } from "../../src/audit/verify.ts";
import { makePool, withTenant } from "../../src/db/pool.ts";
import type { AppError } from "../../src/errors.ts";
import { makeId, makeIdWithoutTenant } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Principal } from "../../src/principal.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { makeUser, signedIn } from "../support/people.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const RISK = {
	name: "Fire",
	category: "Premises",
	treatment: "MITIGATED",
	inherent_likelihood: 2,
	inherent_impact: 5,
};

async function addRisk(
	fields: object = {},
	by?: Principal,
	organization = organization_id,
): Promise<string> {
	const { risk } = await calls.call(
		"addRisk",
		{ organization_id: organization, ...RISK, ...fields },
		by,
	);
	return risk.id;
}

/** Adds a risk, and tries again as long as the service says that it has too much to do. */
async function addRiskWhenPossible(
	...given: Parameters<typeof addRisk>
): Promise<void> {
	const isTurnedAway = await addRisk(...given).then(
		() => false,
		(error: AppError) => {
			if (error.code !== "service_unavailable") throw error;
			return true;
		},
	);
	if (isTurnedAway) await addRiskWhenPossible(...given);
}

/** Returns the log's entries about a record, newest first, as an administrator reads them. */
async function entriesOf(record_id: string) {
	const { audit_entries } = await calls.call("listAuditLog", {
		organization_id,
		filter: { record_id },
	});
	return audit_entries;
}

async function countEntries(): Promise<number> {
	const { rows } = await calls.database.owner.query<{ count: number }>(
		"select count(*)::int as count from audit_entries",
	);
	return rows[0]?.count ?? 0;
}

test("a new record, a change and a deletion are logged with the values before and after", async () => {
	const id = await addRisk({ note: "old" });
	await calls.call("updateRisk", {
		id,
		name: "Blaze",
		note: null,
		inherent_impact: 4,
		category: "Premises",
	});
	await calls.call("deleteRisk", { id });
	const [deleted, updated, added, ...more] = await entriesOf(id);
	expect(more).toEqual([]);
	expect(added).toMatchObject({
		operation: "addRisk",
		outcome: "DONE",
		record_kind: "risk",
		record_id: id,
		record_name: "Fire",
	});
	expect(added.changes).toMatchObject({
		name: { after: "Fire" },
		inherent_risk_score: { after: 10 },
		note: { after: "old" },
	});
	expect(JSON.stringify(added.changes)).not.toContain("before");
	expect(updated).toMatchObject({
		operation: "updateRisk",
		record_name: "Blaze",
	});
	expect(updated.changes).toEqual({
		name: { before: "Fire", after: "Blaze" },
		note: { before: "old", after: null },
		inherent_impact: { before: 5, after: 4 },
		inherent_risk_score: { before: 10, after: 8 },
	});
	expect(deleted).toMatchObject({
		operation: "deleteRisk",
		record_name: "Blaze",
	});
	expect(deleted.changes).toMatchObject({ name: { before: "Blaze" } });
	expect(JSON.stringify(deleted.changes)).not.toContain("after");
});

test("an update that changes nothing, and a call that only reads, are not logged", async () => {
	const id = await addRisk();
	const before = await countEntries();
	await calls.call("updateRisk", { id, name: "Fire" });
	await calls.call("getRisk", { id });
	await calls.call("listRisks", { organization_id });
	await calls.call("listAuditLog", { organization_id });
	expect(await countEntries()).toBe(before);
});

test("a call that fails leaves neither a change nor an entry", async () => {
	const id = await addRisk();
	const before = await countEntries();
	const nobody = makeId(organization_id, "people");
	await calls.refusal("updateRisk", { id, name: "Changed", owner_id: nobody });
	await calls.refusal("updateRisk", { id, inherent_impact: 6 });
	await calls.refusal("addRisk", {
		organization_id,
		...RISK,
		owner_id: nobody,
	});
	await calls.refusal("deleteRisk", { id: makeId(organization_id, "risk") });
	expect(await countEntries()).toBe(before);
	expect((await calls.call("getRisk", { id })).risk.name).toBe("Fire");
});

test("a change whose entry cannot be written does not happen", async () => {
	const id = await addRisk();
	const { owner } = calls.database;
	await owner.query(
		"alter table audit_entries add constraint stop check (id < 0) not valid",
	);
	await expect(
		calls.call("updateRisk", { id, name: "Changed" }),
	).rejects.toThrow();
	await owner.query("alter table audit_entries drop constraint stop");
	expect((await calls.call("getRisk", { id })).risk.name).toBe("Fire");
});

test("a call that the role does not permit is logged with the user, the operation and the record", async () => {
	const id = await addRisk();
	const member = calls.principal("member");
	const viewer = calls.principal("viewer");
	await calls.refusal("deleteRisk", { id }, member);
	await calls.refusal("addRisk", { organization_id, ...RISK }, viewer);
	await calls.refusal("listAuditLog", { organization_id }, viewer);
	const { audit_entries } = await calls.call("listAuditLog", {
		organization_id,
		size: 3,
		filter: { outcome: "REFUSED" },
	});
	expect(audit_entries).toMatchObject([
		{ operation: "listAuditLog", actor_id: viewer.userId, record_id: null },
		{ operation: "addRisk", actor_name: "the viewer" },
		{ operation: "deleteRisk", actor_id: member.userId, record_id: id },
	]);
	expect((await calls.call("getRisk", { id })).risk.id).toBe(id);
});

test("only administrators of the organization read the log", async () => {
	const elsewhere = await createOrganization(calls.database.pool, "Elsewhere");
	for (const by of [
		calls.principal("member"),
		calls.principal("viewer"),
		calls.principal("admin", elsewhere),
	]) {
		const refused = await calls.refusal(
			"listAuditLog",
			{ organization_id },
			by,
		);
		expect(refused.code).toBe("forbidden");
	}
});

test("an entry keeps who called, with which token, from where and with which client", async () => {
	const by: Principal = {
		...calls.principal("member"),
		kind: "TOKEN",
		token: { id: makeIdWithoutTenant("api_token"), name: "laptop" },
		client: "inspector 1.0",
		address: "192.0.2.7",
	};
	const record = await addRisk({}, by);
	expect(await entriesOf(record)).toMatchObject([
		{ sequence: null, hash: null },
	]);
	await sealAll(calls.database.pool);
	const [added] = await entriesOf(record);
	expect(added).toMatchObject({
		actor_kind: "TOKEN",
		actor_id: by.userId,
		actor_name: "the member",
		token_id: by.token?.id,
		token_name: "laptop",
		client: "inspector 1.0",
		address: "192.0.2.7",
		at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
		hash: expect.stringMatching(/^[0-9a-f]{64}$/),
	});
});

test("an entry keeps the user's name after the user is deleted", async () => {
	const { database } = calls;
	const user = await makeUser(database, {
		organizationId: organization_id,
		role: "member",
	});
	const id = await addRisk({}, await signedIn(database, user));
	await database.owner.query("delete from memberships where user_id = $1", [
		user.id,
	]);
	await database.owner.query("delete from users where id = $1", [user.id]);
	expect(await entriesOf(id)).toMatchObject([
		{ actor_id: user.id, actor_name: user.name },
	]);
});

test("the service's role cannot change or delete an entry, insert one directly, or touch a head", async () => {
	await addRisk();
	for (const sql of [
		"update audit_entries set actor_name = 'x'",
		"delete from audit_entries",
		"truncate audit_entries",
		"insert into audit_entries select * from audit_entries limit 1",
		"update audit_seals set sequence = 1",
		"delete from audit_seals",
		"insert into audit_seals select * from audit_seals",
		"update audit_sealing set settled_id = 1",
		"select nextval('audit_entry_ids')",
		"update audit_heads set sequence = 1",
		"delete from audit_heads",
		"insert into audit_heads select * from audit_heads",
		"alter table audit_entries disable row level security",
		"drop function audit_append",
	]) {
		await expect(
			withTenant(calls.database.pool, organization_id, (client) =>
				client.query(sql),
			),
			sql,
		).rejects.toMatchObject({ code: "42501" });
	}
});

test("the role that owns the log's function cannot change or delete an entry either", async () => {
	const pool = makePool(
		{ connectionString: calls.database.url },
		{ max: 1, role: "audit" },
	);
	for (const sql of [
		"update audit_entries set actor_name = 'x'",
		"delete from audit_entries",
		"update audit_seals set hash = ''",
		"delete from audit_seals",
		"delete from audit_heads",
	]) {
		await expect(pool.query(sql), sql).rejects.toMatchObject({ code: "42501" });
	}
	await pool.end();
});

test("40 simultaneous changes form one unbroken chain, and two organizations do not mix", async () => {
	const { pool, url } = calls.database;
	const ours = await createOrganization(pool, "Ours");
	const theirs = await createOrganization(pool, "Theirs");
	await Promise.all(
		Array.from({ length: 40 }, (_, number) => {
			const organization = number % 4 === 0 ? theirs : ours;
			const admin = calls.principal("admin", organization);
			return addRiskWhenPossible(
				{ name: `Risk ${number}` },
				admin,
				organization,
			);
		}),
	);
	await sealAll(pool);
	const reader = makePool({ connectionString: url }, { max: 1, role: "audit" });
	for (const [organization, added] of [
		[ours, 30],
		[theirs, 10],
	] as const) {
		// The additional entry is that of the organization itself.
		expect(await verifyLog(reader, organization)).toMatchObject({
			entries: added + 1,
			head: { sequence: added + 1 },
			findings: [],
		});
		const { audit_entries } = await calls.call(
			"listAuditLog",
			{ organization_id: organization, size: 100 },
			calls.principal("admin", organization),
		);
		expect(audit_entries).toHaveLength(added + 1);
		const numbers = audit_entries
			.map(
				(entry: { record_name: string }) =>
					/^Risk (\d+)$/.exec(entry.record_name)?.[1],
			)
			.filter(Boolean);
		expect(
			numbers.every(
				(text: string) =>
					(Number(text) % 4 === 0) === (organization === theirs),
			),
		).toBe(true);
	}
	await reader.end();
});
