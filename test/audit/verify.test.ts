import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	entryText,
	STORED_ENTRY,
	type StoredEntry,
} from "../../src/audit/entry.ts";
import { listLogs } from "../../src/audit/read.ts";
import { sealAll } from "../../src/audit/sealer.ts";
import { verifyLog } from "../../src/audit/verify.ts";
import { makePool, withTenant } from "../../src/db/pool.ts";
import { makeLog, noteHash, tamper } from "../support/audit-logs.ts";
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

const HERE = "where organization_id = $1";

test("a log that nobody has changed is intact, and verify returns its newest hash", async () => {
	const organizationId = await makeLog(database, 5);
	const { sequence, hash } = await noteHash(database, organizationId, 5);
	expect(await verifyLog(reader, organizationId)).toEqual({
		organization_id: organizationId,
		organization_name: "Acme",
		entries: 5,
		unsealed: 0,
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
	for (const id of [emptied, gone]) {
		await tamper(database, `delete from audit_entries ${HERE}`, id);
		await tamper(database, `delete from audit_seals ${HERE}`, id);
	}
	await tamper(database, `delete from audit_heads ${HERE}`, gone);
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

test("audit_append rejects an organization other than the transaction's", async () => {
	const [own, other] = [await makeLog(database, 1), await makeLog(database, 1)];
	await expect(
		withTenant(database.pool, own, (client) =>
			client.query("select audit_append($1, '[]')", [other]),
		),
	).rejects.toMatchObject({ code: "42501" });
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
	await sealAll(client);
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
		select audit_entry_text(row(e.*)::audit_entries, s.sequence, s.previous_hash) as text, ${STORED_ENTRY}
		from (select * from changed) e
		join audit_seals s on s.organization_id = e.organization_id and s.entry_id = e.id`,
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
		await sealAll(database.pool);
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

test("an organization of which only entries remain is listed, also beside others without a row", async () => {
	// The sealer cannot work on such entries, so this test is the last one.
	const ids = [await makeLog(database, 2), await makeLog(database, 2)];
	const deletions = ["audit_seals", "audit_heads", "organizations"].map(
		(table) => {
			const column = table === "organizations" ? "id" : "organization_id";
			return `delete from ${table} where ${column} in ('${ids.join("', '")}')`;
		},
	);
	// As a replica, PostgreSQL checks no foreign keys. The statements are one transaction.
	await database.owner.query(
		`set local session_replication_role = replica; ${deletions.join("; ")}`,
	);
	const listed = await listLogs(reader);
	expect(listed).toEqual(expect.arrayContaining(ids));
	expect(listed).toEqual([...new Set(listed)].sort());
});
