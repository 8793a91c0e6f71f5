import { expect, vi } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { setWait } from "../../src/cli/unknown-keys.ts";
import { withTenant } from "../../src/db/pool.ts";
import { makeId, makeOrganizationId } from "../../src/id.ts";
import { suspendOrganization } from "../../src/organizations/closures.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { query } from "./backups.ts";
import { PASSWORD, sendTo } from "./console-client.ts";
import { makeUser } from "./people.ts";
import { samples } from "./record-samples.ts";
import { inputOf, makeReferences } from "./record-values.ts";
import { heartbeatBody, postureResult } from "./service.ts";
import type { TestTools } from "./tools.ts";
import { totp } from "./totp.ts";

/** What a test needs to use the filled installation. */
export interface Filled {
	device: { id: string; key: string };
	email: string;
	totpUri: string;
}

let tools: TestTools;

/**
 * Puts rows into every table, for both organizations of the service. All that the service writes
 * afterwards by itself is written when this resolves.
 */
export async function fillEverything(running: TestTools): Promise<Filled> {
	tools = running;
	// Another file of the same process may have filled its own installation before.
	calls = 0;
	for (const [organizationId, { token }] of [
		[tools.organizationId, tools.admin],
		[tools.otherOrganizationId, tools.stranger],
	] as const) {
		await fillRegisters(organizationId, token);
	}
	const device = await fillDevices();
	const person = await makeUserWithSecondFactor();
	await connectApp();
	await closeOrganizations();
	// The service makes these writes after it has answered. They must be finished before databases
	// are compared.
	await vi.waitFor(
		async () => {
			const [used] = await query<{ calls: number }>(
				tools.database.url,
				"select sum(calls)::integer as calls from api_token_usage",
			);
			expect(used?.calls).toBe(calls);
		},
		// The default timeout of one second is too short for a busy machine.
		{ timeout: 60_000 },
	);
	await sealAll(tools.database.pool);
	return { device, ...person };
}

let calls = 0;

/** Creates a record of every kind with a value in every field, and links between records. */
async function fillRegisters(organization_id: string, token: string) {
	const call = (name: string, input?: object) => {
		calls++;
		return tools.use(name, input, token);
	};
	const references = await makeReferences({ call }, organization_id);
	const made: Record<string, string> = {};
	await call("updateDevicePolicy", {
		organization_id,
		max_patch_age_days: 30,
		max_silence_days: 5,
		checks: [{ check_key: "DISK_ENCRYPTION", grace_days: 5 }],
	});
	await call("addEnrollmentKey", {
		organization_id,
		name: "Laptops",
		max_devices: 500,
	});
	const { device } = await call("addDevice", { organization_id });
	const { device_group: group } = await call("addDeviceGroup", {
		organization_id,
		name: "Sales",
		device_ids: [device.id],
	});
	const { device_exception: exception } = await call("addDeviceException", {
		organization_id,
		check: "DISK_ENCRYPTION",
		group_id: group.id,
		reason: "Being replaced",
		ends_at: new Date(Date.now() + 86_400_000).toISOString(),
	});
	await call("approveDeviceException", { id: exception.id });
	await call("setDeviceGroupPolicy", {
		group_id: group.id,
		checks: [{ check_key: "DISK_ENCRYPTION", grace_days: 30 }],
	});
	for (const sample of samples) {
		const input = inputOf(sample, references, "all");
		const answer = await call(`add${sample.one}`, {
			organization_id,
			...input,
		});
		made[sample.kind] = answer[sample.key].id;
	}
	await call("addNonconformity", {
		organization_id,
		idempotency_key: "kept in the backup",
	});
	const failing = [organization_id, made.nonconformity, "FIREWALL_ENABLED"];
	await tools.database.owner.query(
		`insert into check_nonconformities (organization_id, nonconformity_id, check_key, is_per_device)
		values ($1, $2, $3, false)`,
		failing,
	);
	await tools.database.owner.query(
		`insert into nonconformity_devices
			(organization_id, nonconformity_id, check_key, device_id, failing_since, report_id)
		values ($1, $2, $3, $4, now(), $5)`,
		[...failing, device.id, makeId(organization_id, "device_posture_report")],
	);
	await call("linkRecords", {
		record_id: made.risk,
		linked_record_id: made.measure,
	});
	await call("addComment", { record_id: made.risk, text: "Is this still so?" });
	await call("addVendorReview", {
		vendor_id: made.vendor,
		outcome: "APPROVED",
	});
	const { control } = await call("getControl", { id: made.control });
	const { sha256 } = await call("getStatementOfApplicability", {
		framework_id: control.framework_id,
	});
	await call("approveStatementOfApplicability", {
		framework_id: control.framework_id,
		sha256,
	});
	await call("takeSnapshot", { organization_id, name: "All", type: "ALL" });
	await call("updateDocument", { id: made.document, approver_ids: [] });
	const { document_version } = await call("createDraftDocumentVersion", {
		document_id: made.document,
		content: "Everybody locks the screen.",
	});
	await call("publishDocumentVersion", { id: document_version.id });
	await call("requestDocumentVersionSignature", {
		document_version_id: document_version.id,
		person_ids: [made.people],
	});
	await tools.database.owner.query(
		`insert into document_approvals (organization_id, id, version_id, person_name, decision)
		values ($1, $2, $3, 'Ada', 'APPROVED')`,
		[
			organization_id,
			makeId(organization_id, "document_approval"),
			document_version.id,
		],
	);
	await call("updateDocument", {
		id: made.document,
		approver_ids: [made.people],
	});
	calls++;
	await fetch(
		`${tools.url}/api/files?file_name=review.txt&record_id=${made.risk}`,
		{
			method: "POST",
			headers: { authorization: `Bearer ${tools.admin.token}` },
			body: "Reviewed on 3 March",
		},
	);
	await call("updateRisk", { id: made.risk, note: "Leaves a version" });
	await tools.database.owner.query(
		"insert into webhooks (organization_id, id, url, event_types) values ($1, $2, 'https://hooks.example.com', '{device.enrolled}')",
		[organization_id, makeId(organization_id, "webhook")],
	);
	await tools.database.owner.query(
		"insert into notification_channels (organization_id, id, kind, name) values ($1, $2, 'ADMINISTRATORS', 'Team')",
		[organization_id, makeId(organization_id, "notification_channel")],
	);
	await tools.database.owner.query(
		"insert into saved_views (organization_id, id, list, name, search) values ($1, $2, 'risk', 'Mine', '{}')",
		[organization_id, makeId(organization_id, "saved_view")],
	);
	await tools.database.owner.query(
		`insert into identity_providers (organization_id, id, kind, name, issuer, client_id, client_secret)
		values ($1, $2, 'OIDC', 'Example', 'https://login.example.com', 'assay', 'sealed')`,
		[organization_id, makeId(organization_id, "identity_provider")],
	);
	await tools.database.owner.query(
		"insert into sign_in_rules (organization_id) values ($1)",
		[organization_id],
	);
	await tools.database.owner.query(
		`with named as (
			insert into emergency_members (organization_id, user_id)
			select organization_id, user_id from memberships where organization_id = $1 and role = 'admin'
			returning organization_id, user_id
		)
		insert into emergency_sign_ins (organization_id, session_id, user_id)
		select organization_id, 'a session', user_id from named limit 1`,
		[organization_id],
	);
	await tools.database.owner.query(
		`insert into passkeys (id, user_id, rp_id, credential_id, public_key, name, can_sign_in, is_synced)
		select user_id, user_id, 'localhost', convert_to(user_id, 'UTF8'), 'key', 'Laptop', true, true
		from memberships where organization_id = $1 limit 1
		on conflict do nothing`,
		[organization_id],
	);
	await tools.database.owner.query(
		`insert into organization_domains (organization_id, id, domain, challenge)
		values ($1, $2, 'example.com', 'challengechallengechallenge')`,
		[organization_id, makeId(organization_id, "domain")],
	);
	await tools.database.owner.query(
		`with credential as (
			insert into scim_credentials (organization_id, id, name, secret_hash, created_by, expires_at)
			values ($1::text, $2, 'Okta', sha256(convert_to($1::text, 'UTF8')), 'Ada', now() + interval '1 day')
		), request as (
			insert into scim_requests (organization_id, credential_id, method, path, status)
			values ($1::text, $2, 'GET', '/Users', 200)
		), staff as (
			insert into scim_groups (organization_id, id, display_name) values ($1::text, $3, 'Staff')
		), people as (
			insert into scim_users (organization_id, user_id, user_name, is_active)
			select $1::text, user_id, 'ada', true from memberships where organization_id = $1::text limit 1
			returning user_id
		)
		insert into scim_group_members (organization_id, group_id, user_id)
		select $1::text, $3, user_id from people`,
		[
			organization_id,
			makeId(organization_id, "scim_credential"),
			makeId(organization_id, "scim_group"),
		],
	);
	await tools.database.owner.query(
		"insert into imports (organization_id, id, kind, added, updated) values ($1, $2, 'risk', 1, 0)",
		[organization_id, makeId(organization_id, "import")],
	);
	await tools.database.owner.query(
		"insert into notification_stops (organization_id, people_id, kind) values ($1, $2, 'OVERDUE_WORK')",
		[organization_id, made.people],
	);
	await tools.database.owner.query(
		`insert into invitations (organization_id, id, email, role, token_hash, invited_by, expires_at)
		values ($1::text, $2, 'grace@example.com', 'viewer', sha256(convert_to($1::text, 'UTF8')), 'Ada', now() + interval '7 days')`,
		[organization_id, makeId(organization_id, "invitation")],
	);
}

/**
 * Creates devices with history, with reports of this month and of long ago, with a conflict, and
 * with an open token.
 */
async function fillDevices() {
	const active = await tools.activateDevice();
	for (const status of ["PASS", "FAIL", "PASS"]) {
		const results = [
			postureResult({ status, evidence: { text: "a\\.b\t\n\\N ü\u2028" } }),
			postureResult({ status, check_key: "OWN" }),
		];
		await tools.post("postures", { results }, { key: active.key });
	}
	const ownCheck = [postureResult({ check_key: "OWN_USB" })];
	await tools.post("postures", { results: ownCheck }, { key: active.key });
	await tools.post("heartbeat", heartbeatBody(), { key: active.key });
	await tools.makeToken();
	await tools.enrollDevice(tools.otherOrganizationId);
	const { key } = await tools.activateDevice();
	await tools.post("unenroll", "", { key });
	await setWait(tools.database.pool, 60);
	const { owner } = tools.database;
	await owner.query(
		"select make_posture_report_partition(month) from unnest(array['2026-02-01', '2026-03-01']::timestamptz[]) month",
	);
	await owner.query(
		`insert into posture_reports
		select organization_id, device_id, 'r' || right(report_id, 31), at::timestamptz, results
		from (select * from posture_reports limit 1) r,
			unnest(array['2026-02-05', '2026-03-05', '2021-01-01']) at`,
	);
	await owner.query("select begin_packed_month('2026-02-01')");
	await owner.query("select pack_next_reports('2026-02-01', '', '', 10)");
	await owner.query("select finish_packed_month('2026-02-01')");
	await owner.query(
		"insert into posture_report_changes values ($1, $2, '2026-03-01')",
		[tools.organizationId, active.id],
	);
	await owner.query(
		`insert into archive_files values
			($1, '2026-02-01', 1, $3, $2, $2, 9, 999, sha256('x'), now())`,
		[
			tools.organizationId,
			active.id,
			`organization_id=${tools.organizationId}/month=2026-02/part-00001.parquet`,
		],
	);
	await owner.query("insert into archived_months values ('2026-02-01')");
	await owner.query(
		"insert into archive_changes values ($1, '2026-02-01', $2)",
		[tools.organizationId, active.id],
	);
	await owner.query("insert into archive_leftovers values ('gone.parquet')");
	await owner.query(
		`insert into check_count_days (organization_id, day, counts, compliance)
		values ($1, '2026-03-01', '{"SCREEN_LOCK": {"PASSING": 1}}', '{"COMPLIANT": 1}')`,
		[tools.organizationId],
	);
	await owner.query(
		"insert into trend_points values ($1, '2026-03-01', 1, 4, 0)",
		[tools.organizationId],
	);
	await owner.query(
		"insert into device_silences values ($1, $2, '2026-03-01', '2026-03-05')",
		[tools.organizationId, active.id],
	);
	return active;
}

async function makeUserWithSecondFactor() {
	const user = await makeUser(
		tools.database,
		{ organizationId: tools.organizationId, role: "admin" },
		{ email: "ada@example.com", passwordHash: await hashPassword(PASSWORD) },
	);
	const credentials = { email: user.email, password: PASSWORD };
	const { cookie } = await sendTo(
		tools.url,
		"/api/auth/sign-in/email",
		credentials,
	);
	const { body } = await sendTo(
		tools.url,
		"/api/auth/two-factor/enable",
		{ password: PASSWORD },
		{ cookie },
	);
	const verified = await sendTo(
		tools.url,
		"/api/auth/two-factor/verify-totp",
		{ code: totp(body.totpURI) },
		{ cookie },
	);
	expect(verified.status).toBe(200);
	return { email: user.email, totpUri: body.totpURI as string };
}

async function connectApp(): Promise<void> {
	const { owner } = tools.database;
	await owner.query(
		"insert into oauth_clients (id, name, redirect_uris, is_registered) values ('app', 'App', '{http://localhost/}', true)",
	);
	await owner.query(
		`insert into connected_apps (token_id, client_id, redirect_uri, code_hash, code_challenge, code_ends_at, connected_at)
		select id, 'app', 'http://localhost/', sha256('code'), repeat('a', 43), now(), now() from api_tokens limit 1`,
	);
}

/** A suspended organization, and the trace of one that was deleted. */
async function closeOrganizations(): Promise<void> {
	const id = await createOrganization(tools.database.pool, "Suspended");
	await withTenant(tools.database.pool, id, (client) =>
		suspendOrganization(client, systemPrincipal(), id, "a reason"),
	);
	await tools.database.owner.query(
		`insert into deleted_organizations
		values (1, $1, 'Gone', 'a reason', now(), now(), 0, null, sha256('a'), sha256('b'))`,
		[makeOrganizationId()],
	);
}
