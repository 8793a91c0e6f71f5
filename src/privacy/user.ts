import type { PoolClient } from "pg";
import {
	readEntriesAbout,
	redactLog,
	type Subject,
} from "../audit/redaction.ts";
import { AppError } from "../errors.ts";
import { explainKeptMember } from "../organizations/member-operations.ts";
import type { Principal } from "../principal.ts";
import { normalAddress } from "../records/mail-address.ts";
import { dayKey } from "../sign-in/sign-in-throttle.ts";
import { renameInDocuments } from "./rename-in-documents.ts";
import { shortId } from "./traces.ts";

/** A user with an account. In this file, every `client` acts as assay_privacy. */
interface User {
	id: string;
	name: string;
	email: string;
}

async function findUser(client: PoolClient, email: string): Promise<User> {
	const { rows } = await client.query<User>(
		"select u.id, u.name, u.email from users u where u.email = $1",
		[normalAddress(email)],
	);
	if (rows[0]) return rows[0];
	throw new AppError(
		"not_found",
		`there is no user ${email}; \`assay user list\` lists an organization's users`,
	);
}

/**
 * Returns the values by which a user's audit entries are found, and the organizations whose logs
 * contain some. These include organizations that the user has left.
 */
async function readSubject(
	client: PoolClient,
	user: User,
): Promise<{ subject: Subject; organizationIds: string[] }> {
	const { rows: records } = await client.query<{ id: string }>(
		`select t.id::text from api_tokens t where t.user_id = $1
		union all select i.id::text from invitations i where i.email = $2`,
		[user.id, user.email],
	);
	const recordIds = [user.id, ...records.map(({ id }) => id)];
	const { rows } = await client.query<{ id: string }>(
		`select m.organization_id::text as id from memberships m where m.user_id = $1
		union select i.organization_id::text from invitations i where i.email = $3
		union select e.organization_id::text from audit_entries e
		where e.actor_id = $1 or e.record_id = any ($2)
			or (e.record_kind = 'invitation' and lower(e.record_name) = $3)
		order by id`,
		[user.id, recordIds, user.email],
	);
	return {
		subject: {
			recordIds,
			actorId: user.id,
			email: user.email,
			names: [user.email],
		},
		organizationIds: rows.map(({ id }) => id),
	};
}

/**
 * Selects the people in the registers who have the user's address. They need an erasure of their
 * own (person.ts).
 */
const PEOPLE = `
	select p.organization_id, p.id, p.full_name as name from people p
	where lower(p.primary_email_address) = $1
		or $1 in (select lower(a) from unnest(p.additional_email_addresses) a)
	order by p.organization_id, p.id`;

/**
 * The parts of an export, each with its statement. `$1` is the user's id. No column contains a
 * secret.
 */
const PARTS = {
	memberships: `
		select m.organization_id, o.name as organization_name, m.role, m.created_at
		from memberships m join organizations o on o.id = m.organization_id where m.user_id = $1`,
	provisioning: `
		select s.organization_id, s.user_name, s.external_id, s.is_active, s.attributes, s.created_at,
			s.updated_at
		from scim_users s where s.user_id = $1`,
	sign_in_methods:
		"select a.provider_id, a.created_at, a.updated_at from accounts a where a.user_id = $1",
	sessions: `
		select s.created_at, s.last_used_at as last_seen_at, s.expires_at, s.ip_address, s.user_agent,
			s.last_address, s.last_user_agent
		from sessions s where s.user_id = $1`,
	sign_in_places: `
		select p.browser, p.network, p.address, p.first_at, p.last_at
		from sign_in_places p where p.user_id = $1`,
	emergency_accounts: `
		select e.organization_id, e.added_at from emergency_members e where e.user_id = $1`,
	emergency_sign_ins: `
		select e.organization_id, e.used_at from emergency_sign_ins e where e.user_id = $1`,
	passkeys: `
		select p.rp_id, p.name, p.is_synced, p.created_at, p.last_used_at
		from passkeys p where p.user_id = $1`,
	links: `
		select l.purpose, l.created_at, l.expires_at from account_links l
		where l.user_id = $1 or l.made_by = $1`,
	api_tokens: `
		select t.id, t.name, t.description, t.created_at, t.expires_at, t.revoked_at, t.last_used_at,
			t.last_used_client, t.last_used_address, a.client_id as app
		from api_tokens t left join connected_apps a on a.token_id = t.id
		where t.user_id = $1`,
	api_token_usage: `
		select g.token_id, g.organization_id, g.day, g.tool, g.calls, g.errors, g.last_called_at,
			g.last_client, g.last_address
		from api_token_usage g join api_tokens t on t.id = g.token_id where t.user_id = $1`,
	comments: `
		select c.organization_id, c.record_kind, c.record_id, c.text, c.created_at, c.edited_at
		from record_comments c where c.author_id = $1`,
	uploaded_files: `
		select f.organization_id, f.evidence_id, f.file_name, f.created_at
		from evidence_files f where f.uploaded_by_id = $1`,
	vendor_reviews: `
		select r.organization_id, r.vendor_id, r.reviewed_on, r.outcome, r.note, r.created_at
		from vendor_reviews r where r.reviewer_id = $1`,
	document_versions: `
		select v.organization_id, v.document_id, v.version_number, v.created_at
		from document_versions v where v.author_id = $1`,
	edited_document_versions: `
		select v.organization_id, v.document_id, v.version_number, v.created_at
		from document_versions v where $1 = any(v.editor_ids)`,
	document_approvals: `
		select a.organization_id, v.document_id, v.version_number, a.decision, a.note, a.decided_at
		from document_approvals a
		join document_versions v on v.organization_id = a.organization_id and v.id = a.version_id
		where a.user_id = $1`,
	document_signatures: `
		select s.organization_id, v.document_id, v.version_number, s.signed_at, s.way, s.address
		from document_signatures s
		join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
		where s.user_id = $1`,
	device_exceptions: `
		select e.organization_id, e.id, e.requested_by_id = $1 as is_requester,
			e.decided_by_id = $1 as is_approver
		from device_exceptions e where $1 in (e.requested_by_id, e.decided_by_id)`,
	snapshots: `
		select s.organization_id, s.id, s.name, s.created_at from snapshots s where s.taken_by_id = $1`,
	applicability_statements: `
		select s.organization_id, s.framework_id, s.version_number, s.note, s.created_at
		from applicability_statements s where s.approved_by_id = $1`,
	watched_records: `
		select w.organization_id, w.record_kind, w.record_id, w.created_at
		from record_watches w where w.user_id = $1`,
	idempotency_keys: `
		select k.organization_id, k.operation, k.created_at from idempotency_keys k where k.user_id = $1`,
	saved_views: `
		select v.organization_id, v.list, v.name, v.search, v.created_at, v.updated_at
		from saved_views v where v.owner_id = $1`,
	mails: `
		select m.kind, m.state, m.attempts, m.created_at, m.sent_at from mails m where m.user_id = $1`,
	invitations: `
		select i.organization_id, i.id, i.role, i.invited_by, i.created_at, i.expires_at, i.accepted_at, i.revoked_at
		from invitations i join users u on u.email = i.email where u.id = $1`,
};

/** Returns everything that Assay stores about a user, as plain JSON. Credentials are left out. */
export async function exportUser(
	client: PoolClient,
	email: string,
): Promise<Record<string, unknown>> {
	const user = await findUser(client, email);
	const whole = await client.query<{ user: object }>(
		"select to_jsonb(u) as user from users u where u.id = $1",
		[user.id],
	);
	const exported: Record<string, unknown> = { user: whole.rows[0]?.user };
	for (const [name, sql] of Object.entries(PARTS)) {
		exported[name] = (await client.query(sql, [user.id])).rows;
	}
	const { subject, organizationIds } = await readSubject(client, user);
	const entries: object[] = [];
	for (const id of organizationIds) {
		entries.push(...(await readEntriesAbout(client, id, subject)));
	}
	const people = await client.query(PEOPLE, [user.email]);
	return { ...exported, audit_entries: entries, people: people.rows };
}

export interface ErasedUser {
	id: string;
	/** The name that replaced the user's name in the audit logs. */
	name: string;
	organizations_left: number;
	redacted_entries: number;
	/** People who have the user's address. They need an erasure of their own. */
	people: { organization_id: string; id: string; name: string }[];
}

/**
 * Deletes an account with everything that belongs to it. Removes the user's name, address and
 * client programs from every audit log. Throws bad_request if the user is the last admin of an
 * organization.
 */
export async function eraseUser(
	client: PoolClient,
	email: string,
	by: Principal,
): Promise<ErasedUser> {
	const user = await findUser(client, email);
	const name = `Erased user ${shortId(user.id)}`;
	const { subject, organizationIds } = await readSubject(client, user);
	const left = await leaveOrganizations(client, user);
	await renameWhatWasMade(client, user, name);
	await deleteAccount(client, user);
	let redacted = 0;
	// All code that locks several logs locks them in the order of their ids, so that two transactions
	// cannot wait for each other.
	for (const id of organizationIds.sort()) {
		redacted += await redactLog(
			client,
			id,
			{
				...subject,
				event: "eraseUser",
				record: { kind: "user", id: user.id },
				pseudonym: name,
			},
			by,
		);
	}
	const people = await client.query(PEOPLE, [user.email]);
	return {
		id: user.id,
		name,
		organizations_left: left,
		redacted_entries: redacted,
		people: people.rows,
	};
}

async function leaveOrganizations(
	client: PoolClient,
	user: User,
): Promise<number> {
	const { rows } = await client.query<{ organization_id: string }>(
		"select organization_id from memberships where user_id = $1 order by organization_id",
		[user.id],
	);
	for (const { organization_id } of rows) {
		await client
			.query(
				"delete from memberships where organization_id = $1 and user_id = $2",
				[organization_id, user.id],
			)
			.catch(explainKeptMember)
			.catch((error) => {
				if (!(error instanceof AppError)) throw error;
				throw new AppError(
					error.code,
					`${user.email}: ${error.message} (organization ${organization_id})`,
				);
			});
	}
	return rows.length;
}

/**
 * Replaces the user's name in invitations, enrollment tokens, enrollment keys, exceptions and
 * comments, which store the name of the user who made or decided them. The audit log says which
 * ones the user made.
 */
async function renameWhatWasMade(
	client: PoolClient,
	user: User,
	name: string,
): Promise<void> {
	await client.query(
		`update invitations i set invited_by = $2
		where exists (
			select from audit_entries e
			where e.organization_id = i.organization_id and e.record_id = i.id and e.actor_id = $1
				and e.operation = 'inviteMember'
		)`,
		[user.id, name],
	);
	await client.query(
		`update enrollment_tokens t set created_by = $2
		where t.created_by = any (array(
				select distinct e.actor_name from audit_entries e
				where e.organization_id = t.organization_id and e.actor_id = $1
			))
			and exists (
				select from audit_entries e
				where e.organization_id = t.organization_id and e.record_id = t.device_id and e.actor_id = $1
			)`,
		[user.id, name],
	);
	await client.query(
		`update enrollment_keys k set created_by = $2
		where exists (
			select from audit_entries e
			where e.organization_id = k.organization_id and e.record_id = k.id and e.actor_id = $1
				and e.operation = 'addEnrollmentKey'
		)`,
		[user.id, name],
	);
	await client.query(
		`update scim_credentials c set created_by = $2
		where exists (
			select from audit_entries e
			where e.organization_id = c.organization_id and e.record_id = c.id and e.actor_id = $1
				and e.operation = 'createScimCredential'
		)`,
		[user.id, name],
	);
	await client.query(
		"update record_comments set author_name = $2 where author_id = $1",
		[user.id, name],
	);
	await client.query(
		"update evidence_files set uploaded_by_name = $2 where uploaded_by_id = $1",
		[user.id, name],
	);
	await client.query(
		"update vendor_reviews set reviewer_name = $2 where reviewer_id = $1",
		[user.id, name],
	);
	await client.query(
		"update document_versions set author_name = $2 where author_id = $1",
		[user.id, name],
	);
	for (const by of ["link_copied_by", "address_set_by"]) {
		await client.query(
			`update document_signatures set ${by}_name = $2 where ${by}_id = $1`,
			[user.id, name],
		);
	}
	await renameInDocuments(client, user, name);
	await client.query(
		"update snapshots set taken_by_name = $2 where taken_by_id = $1",
		[user.id, name],
	);
	await client.query(
		"update applicability_statements set approved_by_name = $2 where approved_by_id = $1",
		[user.id, name],
	);
	for (const by of ["requested_by", "decided_by"]) {
		await client.query(
			`update device_exceptions set ${by}_name = $2 where ${by}_id = $1`,
			[user.id, name],
		);
	}
}

/**
 * Deletes the account. The database's foreign keys then delete its sessions, sign-in methods,
 * second factor and links.
 */
async function deleteAccount(client: PoolClient, user: User): Promise<void> {
	await client.query(
		"delete from api_token_usage g using api_tokens t where t.id = g.token_id and t.user_id = $1",
		[user.id],
	);
	await client.query("delete from api_tokens where user_id = $1", [user.id]);
	await client.query("delete from invitations where email = $1", [user.email]);
	await client.query(
		"delete from verifications where value = $1 or strpos(lower(identifier), $2) > 0",
		[user.id, user.email],
	);
	await client.query(
		"delete from sign_in_failures where email_hash = sha256(convert_to($1, 'UTF8'))",
		[dayKey(user.email)],
	);
	await client.query("delete from users where id = $1", [user.id]);
}
