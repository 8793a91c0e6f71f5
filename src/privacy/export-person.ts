import type { PoolClient } from "pg";
import { asApp, readEntriesAbout } from "../audit/redaction.ts";
import { readMentions } from "./mentions.ts";
import { addressesOf, findPerson, readFormerNames } from "./person.ts";
import { readOwned } from "./traces.ts";

/** The version of a document that the row `s` is about. */
const VERSION = `
	join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id`;

/**
 * Parts of an export, each with its statement. `$1` is the organization and `$2` the person. No column
 * contains a secret.
 */
const PARTS = {
	document_signatures: `
		select v.document_id, v.title, v.version_number, s.state, s.person_name, s.requested_at, s.signed_at,
			s.way, s.address, s.mailed_to, s.user_id, encode(s.content_hash, 'hex') as content_sha256,
			s.link_copied_at, s.reminded_at
		from document_signatures s ${VERSION}
		where s.organization_id = $1 and s.person_id = $2 order by s.requested_at`,
	document_approvals: `
		select v.document_id, v.title, v.version_number, s.decision, s.is_current, s.note, s.decided_at,
			s.user_id
		from document_approvals s ${VERSION}
		where s.organization_id = $1 and s.person_id = $2 order by s.decided_at`,
	deleted_documents: `
		select r.register, r.valid_from, r.valid_to, r.fields as record from record_versions r
		where r.organization_id = $1 and r.register in ('document_approvals', 'document_signatures')
			and r.fields ->> 'person_id' = $2
		order by r.valid_from`,
	approves_documents: `
		select d.id, d.title from document_approvers a
		join documents d on d.organization_id = a.organization_id and d.id = a.document_id
		where a.organization_id = $1 and a.person_id = $2 order by d.id`,
	requested_exceptions: `
		select e.id, e.check_key, e.device_id, e.reason, e.starts_at, e.ends_at, e.decision, e.decided_at,
			e.decision_note, e.created_at
		from device_exceptions e
		where e.organization_id = $1 and e.requested_by_person_id = $2 order by e.created_at`,
	rules_of_checks: `
		select r.check_key, r.valid_from, r.valid_until from device_check_rules r
		where r.organization_id = $1 and r.owner_id = $2 order by r.check_key, r.valid_from`,
	my_devices_links: `
		select l.is_copied, l.created_at, l.expires_at, l.redeemed_at, l.session_ends_at
		from my_devices_links l
		where l.organization_id = $1 and l.people_id = $2 order by l.created_at`,
	mails: `
		select m.kind, m.state, m.attempts, m.record_kind, m.record_id, m.created_at, m.sent_at
		from mails m where m.organization_id = $1 and m.people_id = $2 order by m.created_at`,
	stopped_mails: `
		select s.kind, s.stopped_at from notification_stops s
		where s.organization_id = $1 and s.people_id = $2 order by s.kind`,
};

/** Returns everything that Assay stores about a person, as plain JSON. */
export async function exportPerson(
	client: PoolClient,
	organizationId: string,
	who: string,
): Promise<Record<string, unknown>> {
	const { id, record } = await findPerson(client, organizationId, who);
	const whole = await client.query<{ record: object }>(
		`select to_jsonb(p) - 'search_text' - 'full_name_key' - 'primary_email_address_key' as record
		from people p where p.organization_id = $1 and p.id = $2`,
		[organizationId, id],
	);
	const devices = await client.query<{ device: object }>(
		`select to_jsonb(d) - 'key_hash' - 'hardware_hash' - 'search_text' - 'name_key' - 'hostname_key' as device
		from devices d where d.organization_id = $1 and d.owner_id = $2 order by d.id`,
		[organizationId, id],
	);
	const names = await readFormerNames(client, organizationId, id);
	const parts: Record<string, object[]> = {};
	// The role that erases cannot read all of these tables.
	await asApp(client, organizationId, async () => {
		for (const [name, sql] of Object.entries(PARTS)) {
			parts[name] = (await client.query(sql, [organizationId, id])).rows;
		}
	});
	const accounts = await client.query(
		"select u.id, u.email from users u where u.email = any ($1) order by u.email",
		[addressesOf(record)],
	);
	return {
		organization_id: organizationId,
		id,
		record: whole.rows[0]?.record ?? null,
		versions: await readVersions(client, organizationId, id),
		snapshots: await readInSnapshots(client, organizationId, id),
		owns: await readOwned(client, organizationId, id),
		devices: devices.rows.map(({ device }) => device),
		...parts,
		mentions: await readMentions(
			client,
			organizationId,
			[...names, ...addressesOf(record)],
			id,
		),
		audit_entries: await readEntriesAbout(client, organizationId, {
			recordIds: [id],
			names,
		}),
		accounts: accounts.rows,
	};
}

/** Returns the earlier states of a person's record, oldest first. */
async function readVersions(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<object[]> {
	const { rows } = await client.query<object>(
		`select v.valid_from, v.valid_to, v.fields as record from record_versions v
		where v.organization_id = $1 and v.register = 'people' and v.record_id = $2
		order by v.valid_from`,
		[organizationId, id],
	);
	return rows;
}

/** Returns the person's record in each snapshot that has it, oldest first. */
async function readInSnapshots(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<object[]> {
	const { rows } = await client.query<object>(
		`select s.id as snapshot_id, s.name as snapshot_name, s.created_at as taken_at, r.fields as record
		from snapshot_records r
		join snapshots s on s.organization_id = r.organization_id and s.id = r.snapshot_id
		where r.organization_id = $1 and r.id = $2
		order by s.created_at, s.id`,
		[organizationId, id],
	);
	return rows;
}
