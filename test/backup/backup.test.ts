import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { listLogs } from "../../src/audit/read.ts";
import { sealAll } from "../../src/audit/sealer.ts";
import { verifyLog } from "../../src/audit/verify.ts";
import { OF_THE_MOMENT } from "../../src/backup/tables.ts";
import { readConfig } from "../../src/config/config.ts";
import { makePool } from "../../src/db/pool.ts";
import { roleName } from "../../src/db/roles.ts";
import { makeLogger } from "../../src/log.ts";
import { serve } from "../../src/serve.ts";
import {
	allRows,
	backUp,
	catalogue,
	connectTo,
	query,
	restore,
} from "../support/backups.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import {
	createDatabaseForTest,
	createEmptyDatabase,
} from "../support/database.ts";
import { fillEverything } from "../support/filled-installation.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";
import { startTools, type TestTools } from "../support/tools.ts";
import { totp } from "../support/totp.ts";

let tools: TestTools;
let device: { id: string; key: string };
let email: string;
let totpUri: string;
beforeAll(async () => {
	tools = await startTools();
	({ device, email, totpUri } = await fillEverything(tools));
});
afterAll(() => tools.close());

const url = () => tools.database.url;

/** Returns the problems that verifying finds in the audit logs of all organizations. */
async function auditFindings(at: string): Promise<unknown[]> {
	const pool = makePool({ connectionString: at }, { max: 1, role: "audit" });
	const findings = [];
	for (const id of await listLogs(pool)) {
		findings.push(...(await verifyLog(pool, id)).findings);
	}
	await pool.end();
	return findings;
}

/** Waits until the service has counted the states of checks, and keeps it from counting again. */
async function holdCounts(): Promise<void> {
	await vi.waitFor(
		async () => {
			const rows = await query(url(), "select from check_count_days");
			expect(rows.length).toBeGreaterThan(0);
		},
		{ timeout: 60_000 },
	);
	const client = await connectTo(url());
	await client.query("begin");
	await client.query("lock table check_count_days in share row exclusive mode");
}

test("a restored database has every row and every object of the one that was backed up", async () => {
	await holdCounts();
	const { audit_sealing, ...before } = await allRows(url());
	expect(audit_sealing).toHaveLength(1);
	const backup = await backUp(url());
	const at = await createEmptyDatabase();
	const restored = await restore(at, backup.file);
	// The restore computes this row again.
	const { audit_sealing: _, ...after } = await allRows(at);
	// It has the time of the restore.
	expect(after.last_retention).toHaveLength(1);
	expect(after.last_retention).not.toEqual(before.last_retention);
	for (const [table, rows] of Object.entries(before)) {
		const kept = OF_THE_MOMENT.includes(table) ? [] : rows;
		if (table === "migrations" || table === "last_retention") continue;
		expect(after[table], table).toEqual(kept);
		// A table without rows would have nothing to lose.
		if (kept !== rows) continue;
		expect(rows.length, table).toBeGreaterThan(0);
		expect(restored.rows[table], table).toBe(rows.length);
	}
	expect(Object.keys(after)).toEqual(Object.keys(before));
	expect(await catalogue(at)).toEqual(await catalogue(url()));
	expect(await auditFindings(at)).toEqual([]);
});

test("devices, API tokens and users continue to work with a restored database", async () => {
	const { url: at } = await createDatabaseForTest();
	await restore(at, (await backUp(url())).file);
	const service = await serve(
		readConfig({
			ASSAY_PORT: "0",
			ASSAY_SECRET: "what the sessions of the tests are signed with",
			DATABASE_URL: at,
		}),
		makeLogger("silent"),
	);
	onTestFinished(() => service.close());

	const heartbeat = await fetch(`${service.url}/api/agent/v1/heartbeat`, {
		method: "POST",
		headers: { authorization: `Bearer ${device.key}` },
		body: JSON.stringify(heartbeatBody()),
	});
	expect(await heartbeat.json()).toMatchObject({ device_id: device.id });
	const postures = await fetch(`${service.url}/api/agent/v1/postures`, {
		method: "POST",
		headers: { authorization: `Bearer ${device.key}` },
		body: JSON.stringify({ results: [postureResult()] }),
	});
	expect(postures.status).toBe(204);

	const tool = await fetch(`${service.url}/api/mcp/tools/addRisk`, {
		method: "POST",
		headers: { authorization: `Bearer ${tools.member.token}` },
		body: JSON.stringify({
			organization_id: tools.organizationId,
			name: "after the fire",
			category: "IT",
			treatment: "ACCEPTED",
			inherent_likelihood: 1,
			inherent_impact: 1,
		}),
	});
	expect(tool.status).toBe(200);

	const half = await sendTo(service.url, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	});
	expect(half.body).toMatchObject({ twoFactorRedirect: true });
	const whole = await sendTo(
		service.url,
		"/api/auth/two-factor/verify-totp",
		{ code: totp(totpUri, 1) },
		{ cookie: half.cookie },
	);
	expect(whole.status).toBe(200);
	expect(await auditFindings(at)).toEqual([]);
});

test("a backup that is made while the service works is consistent and contains every write that was acknowledged before", async () => {
	let isDone = false;
	const write = async (n: number) => {
		for (let count = 0; !isDone; count++) {
			const results = [postureResult({ status: count % 2 ? "PASS" : "FAIL" })];
			await tools.post("postures", { results }, { key: device.key });
			await tools.use("addTask", {
				organization_id: tools.organizationId,
				name: `task ${n}.${count}`,
			});
		}
	};
	const writers = [write(1), write(2)];
	const { task } = await tools.use("addTask", {
		organization_id: tools.organizationId,
		name: "before the backup",
	});
	const backup = await backUp(url());
	isDone = true;
	await Promise.all(writers);
	const { url: at } = await createDatabaseForTest();
	await restore(at, backup.file);
	expect(
		await query(at, "select name from tasks where id = $1", [task.id]),
	).toEqual([{ name: "before the backup" }]);
	expect(await auditFindings(at)).toEqual([]);
	const [counts] = await query<{ tasks: number; entries: number }>(
		at,
		`select
			(select count(*)::integer from tasks) as tasks,
			(select count(*)::integer from audit_entries where operation = 'addTask') as entries`,
	);
	expect(counts?.tasks).toBe(counts?.entries);
});

test("entries that are not sealed yet are in a backup, and they are sealed after the restore", async () => {
	const id = tools.organizationId;
	await sealAll(tools.database.pool);
	const holder = await connectTo(url());
	await holder.query("select pg_advisory_lock(4723121)");
	const append = `select audit_append('${id}', '[{"actor_kind": "SYSTEM", "actor_name": "x", "operation": "addRisk"}]')`;
	await holder.query(append);
	const backup = await backUp(url());
	await holder.end();
	const { url: at } = await createDatabaseForTest();
	await restore(at, backup.file);
	expect(await auditFindings(at)).toEqual([]);
	const pool = makePool({ connectionString: at }, { max: 1 });
	await pool.query(append);
	await sealAll(pool);
	await pool.end();
	const seals = await query(
		at,
		`select s.sequence::int from audit_entries e
		left join audit_seals s on s.organization_id = e.organization_id and s.entry_id = e.id
		where e.organization_id = $1 order by e.id`,
		[id],
	);
	expect(seals).toEqual(seals.map((_, index) => ({ sequence: index + 1 })));
	expect(seals.length).toBeGreaterThan(3);
	expect(await auditFindings(at)).toEqual([]);
});

test("a backup does not wait for writers, and writers do not wait for it", async () => {
	const writer = await connectTo(url());
	await writer.query("begin");
	await writer.query("update organizations set name = 'not committed'");
	const backup = await backUp(url());
	await writer.query("rollback");
	expect(backup.rows.organizations).toBe(3);
});

test("restored raw reports are in the partitions of their months", async () => {
	const { url: at } = await createDatabaseForTest();
	await restore(at, (await backUp(url())).file);
	const places = `select tableoid::regclass::text as partition, count(*)::integer as rows
		from posture_reports group by 1 order by 1`;
	expect(await query(at, places)).toEqual(await query(url(), places));
	expect(await query(at, places)).toContainEqual({
		partition: "posture_reports_2026_03",
		rows: 1,
	});
});

test("the backup role may read every table that a backup contains, and add rows only of an organization that is imported", async () => {
	const [backups] = await query<{ role: string }>(
		url(),
		`select ${roleName("backup")} as role`,
	);
	const rows = await query<{
		name: string;
		seen: boolean;
		adds: boolean;
		imports: boolean;
		other: boolean;
	}>(
		url(),
		`select c.relname as name,
			has_table_privilege('${backups?.role}', c.oid, 'select') and exists (
				select from pg_policies p
				where p.tablename = c.relname and p.policyname = 'backup' and p.cmd = 'SELECT'
					and p.roles = array['${backups?.role}'::name] and p.qual = 'true'
			) as seen,
			has_any_column_privilege('${backups?.role}', c.oid, 'insert') as adds,
			exists (
				select from pg_policies p
				where p.tablename = c.relname and p.policyname = 'import' and p.cmd = 'INSERT'
					and p.roles = array['${backups?.role}'::name] and p.with_check ~ (
						'^\\(*' || case c.relname when 'organizations' then 'id' else 'organization_id' end
						|| '\\)?(::text)? = current_setting\\(''assay.importing''::text, true\\)\\)$'
					)
			) as imports,
			has_table_privilege('${backups?.role}', c.oid, 'update, delete, truncate')
				or has_any_column_privilege('${backups?.role}', c.oid, 'update') as other
		from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relname <> 'migrations'
		order by 1`,
	);
	// If this fails for a new table, its migration must end with: select allow_backup();
	expect(rows).toEqual(
		rows.map(({ name, imports }) => ({
			name,
			seen: !OF_THE_MOMENT.includes(name),
			adds: imports,
			imports,
			other: false,
		})),
	);
	expect(rows.length).toBeGreaterThan(30);
	expect(rows.filter(({ imports }) => imports).length).toBeGreaterThan(30);
	expect((await backUp(url())).manifest.tables.sort()).toEqual(
		rows.filter(({ seen }) => seen).map(({ name }) => name),
	);
});

test("no table in a backup has a sequence, because a backup does not contain them", async () => {
	const rows = await query(
		url(),
		`select coalesce(t.relname, s.relname) as name from pg_class s
		left join pg_depend d on d.objid = s.oid and d.deptype = 'i'
		left join pg_class t on t.oid = d.refobjid
		where s.relkind = 'S'`,
	);
	const names = (rows as { name: string }[]).map(({ name }) => name);
	// A restore sets this one (audit_settle).
	expect(names.filter((name) => !OF_THE_MOMENT.includes(name))).toEqual([
		"audit_entry_ids",
	]);
});
