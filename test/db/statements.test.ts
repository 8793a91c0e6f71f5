import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "../../src/operations.ts";
import { removeLeftovers } from "../../src/retention/expired-rows.ts";
import { startService, type TestService } from "../support/service.ts";
import { endShared } from "../support/shared.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { useEverything } from "./every-operation/use-everything.ts";

/**
 * Records every statement that the service sends to its database. An operator who distributes the
 * tables by organization has to know which statements reach several organizations.
 */

/**
 * Functions that run with their owner's rights and reach rows of several organizations.
 * docs/scaling.md gives the reason for each.
 */
const ACROSS_FUNCTIONS = [
	"accept_invitation",
	"accept_invitation_with_tokens",
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
	"audit_append",
	"audit_seal",
	"authenticate_api_tokens",
	"authenticate_scim",
	"authenticate_scoped_tokens",
	"changed_since_packed",
	"count_check_states",
	"count_devices",
	"count_devices_not_reporting",
	"count_enrollment_key_states",
	"count_enrollment_keys",
	"count_failing_receivers",
	"count_mails",
	"count_unsealed_entries",
	"end_access_after_leaving",
	"find_invitation",
	"find_my_devices_link",
	"has_organizations",
	"invitation_email",
	"invitations_sent",
	"invitations_sent_today",
	"keep_an_administrator",
	"mails_left_to_people",
	"may_mail_invitation",
	"may_mail_people",
	"may_send_test_mail",
	"note_archive_change",
	"note_archive_leftover",
	"note_device_event",
	"note_posture_report_change",
	"note_revoked_key",
	"missing_trend_points",
	"organizations_with_daily_events",
	"organizations_with_devices",
	"organizations_with_due_digests",
	"organizations_with_events",
	"provision_membership",
	"provision_user",
	"read_archive_backlog",
	"read_archive_state",
	"record_api_token_calls",
	"record_api_token_usage",
	"remove_spans_of_devices",
	"require_devices_of_spans",
	"take_domain_checks",
	"take_notification_messages",
	"take_webhook_deliveries",
	"unknown_key_state",
];

/**
 * The other functions that run with their owner's rights. They reach one organization or rows that
 * belong only to people.
 */
const OTHER_FUNCTIONS = [
	"count_members_without_provider",
	"emergency_candidates",
	"end_emergency_member",
	"keep_an_emergency_member",
	"add_password_reset",
	"add_setup_link",
	"create_proven_user",
	"create_user",
	"end_my_devices_links",
	"end_own_sessions",
	"end_provider",
	"end_provider_sessions",
	"ensure_posture_report_partitions",
	"find_records",
	"find_similar",
	"has_users",
	"is_live_membership",
	"is_setup_link",
	"link_new_user",
	"list_unknown_device_keys",
	"note_backup",
	"note_retention",
	"read_last_backup",
	"read_last_retention",
	"read_maintenance",
	"read_replicas",
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
	"provisioned_account",
	"list_closed_organizations",
	"read_closed_organizations",
	"remove_own_passkey",
	"remove_second_factor",
	"rename_own_passkey",
	"set_maintenance",
	"set_unknown_key_wait",
	"take_unknown_device_key",
	"use_setup_link",
];

/** The SQL expression for the organization of the current transaction. */
const CURRENT = "current_setting('assay.organization_id'";

/**
 * Statements about one user, who may be in several organizations. The keys are their names in
 * docs/scaling.md.
 */
const ACROSS_STATEMENTS: Record<string, RegExp> = {
	"a session's memberships":
		/^with used as \( update sessions set .* from memberships m join organizations o /,
	"a user by address or id, with memberships":
		/^select u\.id, u\.name, u\.email, .* from users u left join memberships m /,
	"the organizations of a token's user":
		/^select organization_id from memberships where user_id = \$1$/,
	"the memberships whose last day is over":
		/^select m\.organization_id, o\.name, m\.ends_on::text as ends_on from memberships m /,
	"how many organizations a user administers":
		/^select count\(\*\)::int as count from memberships where user_id = \$1/,
	"the organizations of the profile":
		/^select o\.id, o\.name, m\.role from memberships m join organizations o /,
	"the list of one's organizations":
		/^select t\.id, t\.name, .* from organizations \) t where t\.id = any\(\$1\)/,
	"the name of the organization that one joins":
		/^select name from organizations where id = \$1$/,
	"invitations that were over a month ago": /^delete from invitations where /,
	"emergency sign-ins that are old": /^delete from emergency_sign_ins where /,
	"links to devices that are old": /^delete from my_devices_links where /,
	"events and deliveries that are old":
		/^delete from (?:events|notification_messages|webhook_deliveries) where /,
	"mails older than a month": /^delete from mails where /,
	"mails that are due": /^update mails set attempts = attempts \+ 1/,
	"the end of a mail": /^update mails set state = \$3/,
	"the link of an invitation's mail":
		/^update invitations i set mailed_token_hash/,
	"idempotency keys older than 24 hours":
		/^delete from idempotency_keys where /,
	"the use of one's own API tokens":
		/^select t\.id, .* t\.last_used_at, .* from api_tokens t .* api_token_usage n /,
	"an invitation's page":
		/^select i\.email, o\.name as organization_name, .* where \(i\.token_hash = /,
};

interface Statement {
	text: string;
	role: string;
	/** The organization of the transaction, or "" if the transaction names none. */
	tenant: string;
	user: string;
	values: unknown[];
}

const statements: Statement[] = [];
const scopes = new WeakMap<object, { tenant: string; user: string }>();
const roles = new WeakMap<object, string>();
const NO_SCOPE = { tenant: "", user: "" };
const original = Client.prototype.query;

/**
 * Records the statements of a connection and derives from them in which organization each
 * transaction is.
 */
function note(client: Client, query: unknown, values: unknown): void {
	const { application_name: name } = (
		client as unknown as {
			connectionParameters: { application_name?: string };
		}
	).connectionParameters;
	if (!name?.startsWith("assay") || name === "assay migrate") return;
	const { text, values: own } =
		typeof query === "string"
			? { text: query, values }
			: (query as { text: string; values: unknown });
	if (typeof text !== "string") return;
	const role = text.match(/'(assay_\w+) of this database'\), false\)/)?.[1];
	if (role) roles.set(client, role);
	const scope = { ...(scopes.get(client) ?? NO_SCOPE) };
	const given = (own ?? []) as unknown[];
	for (const [part, setting] of [
		["tenant", "organization_id"],
		["user", "user_id"],
	] as const) {
		const set = text.match(
			new RegExp(
				`(?:set_config\\('assay\\.${setting}', |set local assay\\.${setting} = )(?:'([\\w-]*)'|\\$(\\d))`,
			),
		);
		if (set) scope[part] = set[1] ?? String(given[Number(set[2]) - 1] ?? "");
	}
	scopes.set(client, /^(commit|rollback)$/.test(text) ? NO_SCOPE : scope);
	statements.push({
		text: text.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim(),
		role: roles.get(client) ?? "owner",
		...scope,
		values: given,
	});
}

let running: TestService;
let sink: SmtpSink;
let answered: Map<string, string>;

beforeAll(async () => {
	await endShared();
	Client.prototype.query = function (this: Client, ...given: unknown[]) {
		note(this, given[0], given[1]);
		return (original as (...all: unknown[]) => unknown).apply(this, given);
	} as typeof original;
	sink = await openSmtpSink();
	running = await startService(undefined, {
		ASSAY_METRICS_PORT: "0",
		ASSAY_OAUTH: "on",
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	answered = await useEverything(running);
	// The service does this only a while after its start.
	await removeLeftovers({ connectionString: running.database.url });
});

afterAll(async () => {
	Client.prototype.query = original;
	await running.close();
	sink.close();
});

test("every operation was called, so no statement is missing", () => {
	const refused = operations
		.map(({ name }) => `${name} ${answered.get(name)}`)
		.filter((line) => !line.endsWith(" 200"));
	expect(refused).toEqual([]);
});

async function namesOf(sql: string): Promise<string[]> {
	const { rows } = await running.database.owner.query<{ name: string }>(sql);
	return rows.map(({ name }) => name);
}

/**
 * Returns the statements that name a table of organizations, except those of the owner, who
 * maintains the partitions.
 */
async function onTables(): Promise<Statement[]> {
	const tables = await namesOf(`
		select c.relname as name from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
			and (c.relname = 'organizations' or exists (
				select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id'
			))`);
	expect(tables.length).toBeGreaterThan(20);
	const named = new RegExp(
		`\\b(?:from|join|into|update) (?:only )?(?:public\\.)?"?(?:${tables.join("|")})\\b`,
		"i",
	);
	const found = statements.filter(
		({ role, text }) => role !== "owner" && named.test(text),
	);
	expect(found.length).toBeGreaterThan(300);
	return found;
}

const isAcross = ({ text }: Statement) =>
	Object.values(ACROSS_STATEMENTS).some((known) => known.test(text));

test("each statement on a table of organizations is in a transaction of its organization or is a known exception", async () => {
	const outside = (await onTables()).filter(
		(each) => each.tenant === "" && !isAcross(each),
	);
	expect(outside.map(({ role, text }) => `${role}: ${text}`)).toEqual([]);
});

test("each statement in a transaction of an organization has the organization's id as its key", async () => {
	const inside = (await onTables()).filter(({ tenant }) => tenant !== "");
	const withoutKey = inside.filter(
		({ text, tenant, values }) =>
			!(values.includes(tenant) || text.includes(CURRENT)) ||
			!/\borganization_id\b|\borganizations\b/.test(text),
	);
	expect([...new Set(withoutKey.map(({ text }) => text))]).toEqual([]);
});

test("this file lists all functions that run with their owner's rights", async () => {
	const functions = await namesOf(`
		select proname as name from pg_proc
		where pronamespace = 'public'::regnamespace and prosecdef
		order by proname`);
	expect(functions).toEqual([...ACROSS_FUNCTIONS, ...OTHER_FUNCTIONS].sort());
});

test("every statement that reaches several organizations is documented, and every documented one has been recorded", async () => {
	const page = await readFile(
		join(import.meta.dirname, "../../docs/scaling.md"),
		"utf8",
	);
	const words = page.replace(/\s+/g, " ");
	for (const name of [...ACROSS_FUNCTIONS, ...Object.keys(ACROSS_STATEMENTS)]) {
		expect(words).toContain(name);
	}
	for (const [name, known] of Object.entries(ACROSS_STATEMENTS)) {
		expect(
			statements.some(({ text }) => known.test(text)),
			name,
		).toBe(true);
	}
});

/**
 * PostgreSQL lets a statement that groups by a primary key read the other columns of the table, and
 * notes that it depends on this key. Databases that distribute tables do not allow it.
 */
test("each group by names every column that is not aggregated", async () => {
	const grouping = new Set(
		statements
			.map(({ text }) => text.replace(/;$/, ""))
			.filter((text) => /^(?:select|with)\b.*\bgroup by\b/i.test(text)),
	);
	expect(grouping.size).toBeGreaterThan(30);
	const { owner } = running.database;
	const client = await owner.connect();
	const incomplete: string[] = [];
	for (const text of grouping) {
		await client.query(`prepare grouping as ${text}`);
		const { rows: prepared } = await client.query<{ types: string }>(`
			select array_to_string(parameter_types, ', ') as types from pg_prepared_statements
			where name = 'grouping'`);
		await client.query(`
			deallocate grouping;
			create function pg_temp.grouping(${prepared[0]?.types}) returns void begin atomic ${text}; end`);
		const { rowCount } = await client.query(`
			select from pg_depend where refclassid = 'pg_constraint'::regclass
			and objid = (select oid from pg_proc where pronamespace = pg_my_temp_schema() and proname = 'grouping')`);
		if (rowCount) incomplete.push(text);
		await client.query("drop function pg_temp.grouping");
	}
	client.release();
	expect(incomplete).toEqual([]);
});
