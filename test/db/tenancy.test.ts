import { afterAll, beforeAll, expect, test } from "vitest";
import { assertConfined, makePool, withTenant } from "../../src/db/pool.ts";
import {
	DATABASE_ROLES,
	type DatabaseRole,
	roleName,
} from "../../src/db/roles.ts";
import { createDevice } from "../../src/devices/enrollment.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	createDatabase,
	nameOfRole,
	type TestDatabase,
} from "../support/database.ts";

let database: TestDatabase;
let ours: string;
let theirs: string;
beforeAll(async () => {
	database = await createDatabase();
	ours = await createOrganization(database.pool, "Ours");
	theirs = await createOrganization(database.pool, "Theirs");
	for (const organizationId of [ours, theirs]) {
		await withTenant(database.pool, organizationId, (client) =>
			createDevice(client, {
				organizationId,
				name: "laptop",
				tokenDays: 1,
				createdBy: "test",
			}),
		);
	}
});
afterAll(() => database.drop());

/** Returns all tables of the schema except the list of migrations. */
async function tables(): Promise<
	{ name: string; enabled: boolean; forced: boolean; tenant: boolean }[]
> {
	const { rows } = await database.owner.query(`
		select
			c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
			exists (
				select from pg_attribute a
				where a.attrelid = c.oid and a.attname = 'organization_id' and a.attnotnull
			) as tenant
		from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
			and c.relname <> 'migrations'
		order by c.relname
	`);
	return rows;
}

/** Tables whose rows belong to a user, who may be in several organizations, or to nobody yet. */
const WITHOUT_ORGANIZATION = [
	"account_links",
	"accounts",
	"api_token_usage",
	"api_tokens",
	"archive_leftovers",
	"archived_months",
	"audit_sealing",
	"connected_apps",
	"last_backup",
	"last_retention",
	"mails",
	"maintenance",
	"oauth_clients",
	"organizations",
	"passkeys",
	"sessions",
	"sign_in_failures",
	"sign_in_places",
	"two_factors",
	"unknown_device_keys",
	"unknown_key_wait",
	"users",
	"verifications",
];

test("every table has forced row-level security, and all except the tables of users have an organization_id", async () => {
	const all = await tables();
	expect(all.length).toBeGreaterThan(6);
	for (const table of all) {
		expect(table).toEqual({
			name: table.name,
			enabled: true,
			forced: true,
			tenant: !WITHOUT_ORGANIZATION.includes(table.name),
		});
	}
});

test("a query without a where clause sees only the rows of the transaction's organization", async () => {
	const seen = await withTenant(database.pool, ours, async (client) => ({
		organizations: (await client.query("select id from organizations")).rows,
		devices: (await client.query("select organization_id from devices")).rows,
		tokens: (
			await client.query("select organization_id from enrollment_tokens")
		).rows,
	}));
	expect(seen).toEqual({
		organizations: [{ id: ours }],
		devices: [{ organization_id: ours }],
		tokens: [{ organization_id: ours }],
	});
});

test("outside of an organization's transaction, the service's role sees nothing", async () => {
	for (const { name } of await tables()) {
		const rows = await database.pool
			.query(`select from ${name}`)
			.then((answer) => answer.rowCount)
			.catch((error: { code: string }) => error.code);
		expect([0, "42501"]).toContain(rows);
	}
});

test("a row of another organization can be neither inserted, changed nor deleted", async () => {
	const attempt = (sql: string) =>
		withTenant(database.pool, ours, (client) =>
			client.query(sql, sql.includes("$1") ? [theirs] : []),
		);
	await expect(
		attempt(
			"insert into devices (organization_id, id) values ($1, repeat('x', 32))",
		),
	).rejects.toMatchObject({ code: "42501" });
	await expect(
		attempt("update devices set organization_id = $1"),
	).rejects.toMatchObject({ code: "42501" });
	const { rowCount } = await attempt(
		"delete from devices where organization_id = $1",
	);
	expect(rowCount).toBe(0);
});

test("a reference to another organization's row cannot be stored, even by the owner", async () => {
	await expect(
		database.owner.query(
			`insert into enrollment_tokens (organization_id, id, device_id, name, token_hash, expires_at)
			select $1, repeat('t', 32), id, 'token', sha256('x'), now() from devices where organization_id = $2`,
			[ours, theirs],
		),
	).rejects.toMatchObject({ code: "23503" });
});

test("only the known functions that serve several organizations see all rows", async () => {
	const { rows } = await database.owner.query<{ name: string; owner: string }>(`
		select p.proname as name, pg_get_userbyid(p.proowner) as owner
		from pg_proc p
		where p.pronamespace = 'public'::regnamespace and p.prosecdef
		order by p.proname
	`);
	const ownedBy = async (role: DatabaseRole) => {
		const owner = await nameOfRole(database.owner, role);
		return rows.filter((row) => row.owner === owner).map(({ name }) => name);
	};
	expect(await ownedBy("agent")).toEqual([
		"agent_activate",
		"agent_authenticate",
		"agent_device_policies",
		"agent_enroll",
		"agent_enroll_with_key",
		"agent_group_policies",
		"agent_heartbeat",
		"agent_judge_unknown_keys",
		"agent_lock",
		"agent_note_check_keys",
		"agent_store_heartbeats",
		"agent_store_postures",
		"agent_unenroll",
		"changed_since_packed",
		"count_check_states",
		"count_devices",
		"count_devices_not_reporting",
		"count_enrollment_key_states",
		"count_enrollment_keys",
		"count_failing_receivers",
		"has_organizations",
		"list_unknown_device_keys",
		"missing_trend_points",
		"note_archive_change",
		"note_archive_leftover",
		"note_backup",
		"note_device_event",
		"note_posture_report_change",
		"note_retention",
		"note_revoked_key",
		"organizations_with_daily_events",
		"organizations_with_devices",
		"organizations_with_due_digests",
		"organizations_with_events",
		"read_archive_backlog",
		"read_archive_state",
		"read_last_backup",
		"read_last_retention",
		"read_maintenance",
		"remove_spans_of_devices",
		"require_devices_of_spans",
		"set_maintenance",
		"set_unknown_key_wait",
		"take_notification_messages",
		"take_unknown_device_key",
		"take_webhook_deliveries",
		"unknown_key_state",
	]);
	expect(await ownedBy("identity")).toEqual([
		"accept_invitation",
		"accept_invitation_with_tokens",
		"add_password_reset",
		"add_setup_link",
		"authenticate_api_tokens",
		"authenticate_scim",
		"authenticate_scoped_tokens",
		"count_mails",
		"count_members_without_provider",
		"create_proven_user",
		"create_user",
		"emergency_candidates",
		"end_access_after_leaving",
		"end_emergency_member",
		"end_my_devices_links",
		"end_own_sessions",
		"end_provider",
		"end_provider_sessions",
		"find_invitation",
		"find_my_devices_link",
		"has_users",
		"invitation_email",
		"invitations_sent",
		"invitations_sent_today",
		"is_live_membership",
		"is_setup_link",
		"keep_an_administrator",
		"keep_an_emergency_member",
		"link_new_user",
		"list_closed_organizations",
		"mails_left_to_people",
		"may_mail_invitation",
		"may_mail_people",
		"may_send_test_mail",
		"members_with_second_factor",
		"narrow_membership",
		"own_account",
		"own_identity_provider",
		"own_passkeys",
		"own_second_factors",
		"own_session_proved_at",
		"own_sessions",
		"own_sign_in",
		"prove_address",
		"provision_membership",
		"provision_user",
		"provisioned_account",
		"read_closed_organizations",
		"record_api_token_calls",
		"record_api_token_usage",
		"remove_own_passkey",
		"remove_second_factor",
		"rename_own_passkey",
		"take_domain_checks",
		"use_setup_link",
	]);
	expect(await ownedBy("audit")).toEqual([
		"audit_append",
		"audit_seal",
		"count_unsealed_entries",
	]);
	expect(
		rows
			.filter((row) => !row.owner.startsWith("assay_"))
			.map((row) => row.name),
	).toEqual(["ensure_posture_report_partitions", "read_replicas"]);
});

test("only the service's role may call these functions, and no role bypasses row-level security", async () => {
	const { rows: open } = await database.owner.query(`
		select p.proname from pg_proc p
		where p.pronamespace = 'public'::regnamespace and p.prosecdef
			and has_function_privilege('public', p.oid, 'execute')
	`);
	expect(open).toEqual([]);
	const { rows: roles } = await database.owner.query(`
		select rolsuper or rolbypassrls or rolcanlogin or rolcreaterole as "isStrong" from pg_roles
		where rolname in (${DATABASE_ROLES.map(roleName).join(", ")})
	`);
	expect(roles).toEqual(DATABASE_ROLES.map(() => ({ isStrong: false })));
});

test("the service's role cannot read passwords, sessions, second factors or the hash of a token", async () => {
	for (const sql of [
		"select from accounts",
		"select from account_links",
		"select from sessions",
		"select from verifications",
		"select from two_factors",
		"select from sign_in_failures",
		"select two_factor_enabled from users",
		"select token_hash from api_tokens",
		"select token_hash from invitations",
	]) {
		await expect(
			withTenant(database.pool, ours, (client) => client.query(sql)),
			sql,
		).rejects.toMatchObject({ code: "42501" });
	}
});

test("a connection to which row-level security does not apply is rejected", async () => {
	await assertConfined(database.pool);
	const pool = makePool(
		{ connectionString: database.url },
		{ max: 1, role: "none" },
	);
	try {
		await expect(assertConfined(pool)).rejects.toMatchObject({
			code: "bad_request",
		});
	} finally {
		await pool.end();
	}
});

test("a failed transaction leaves nothing behind, and its connection can be used again", async () => {
	await expect(
		withTenant(database.pool, ours, async (client) => {
			await client.query("update organizations set name = 'changed'");
			throw new Error("no");
		}),
	).rejects.toThrow("no");
	const { rows } = await withTenant(database.pool, ours, (client) =>
		client.query("select name from organizations"),
	);
	expect(rows).toEqual([{ name: "Ours" }]);
});
