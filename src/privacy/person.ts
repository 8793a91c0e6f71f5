import type { PoolClient } from "pg";
import { redactLog } from "../audit/redaction.ts";
import { AppError } from "../errors.ts";
import { parseId } from "../id.ts";
import type { Principal } from "../principal.ts";
import { normalAddress } from "../records/mail-address.ts";
import { readMentions } from "./mentions.ts";
import { countSnapshotRecordsWith, eraseInSnapshots } from "./snapshots.ts";
import {
	countEntriesWith,
	countVersionsWith,
	readOwned,
	shortId,
	type Trace,
} from "./traces.ts";

/**
 * A person in an organization's People register. In this file, every `client` acts as
 * assay_privacy.
 */
export interface Person {
	id: string;
	full_name: string;
	primary_email_address: string;
	additional_email_addresses: string[];
}

/**
 * Finds the person with this id or e-mail address. `record` is undefined if the record was deleted.
 * Its entries remain in the audit log, but only the id finds them. Throws not_found, or bad_request
 * if several people have the address.
 */
export async function findPerson(
	client: PoolClient,
	organizationId: string,
	who: string,
): Promise<{ id: string; record: Person | undefined }> {
	const { rowCount } = await client.query(
		"select from organizations where id = $1",
		[organizationId],
	);
	if (!rowCount) {
		throw new AppError(
			"not_found",
			`there is no organization ${organizationId}; \`assay org list\` lists the organizations`,
		);
	}
	const { rows } = await client.query<Person>(
		`select p.id, p.full_name, p.primary_email_address, p.additional_email_addresses
		from people p
		where p.organization_id = $1 and (
			p.id::text = $2 or lower(p.primary_email_address) = lower($2)
			or lower($2) in (select lower(a) from unnest(p.additional_email_addresses) a)
		)
		order by p.id for update`,
		[organizationId, who],
	);
	const [record, another] = rows;
	if (record && another) {
		throw new AppError(
			"bad_request",
			`several people have the e-mail address ${who}; give the id of one of them: ${rows.map(({ id }) => id).join(", ")}`,
		);
	}
	if (record) return { id: record.id, record };
	if (parseId(who)?.kind === "people") {
		const traces = await client.query(
			`select from audit_entries where organization_id = $1 and record_id = $2
			union all
			select from record_versions where organization_id = $1 and register = 'people' and record_id = $2
			limit 1`,
			[organizationId, who],
		);
		if (traces.rowCount) return { id: who, record: undefined };
	}
	throw new AppError(
		"not_found",
		`there is no person ${who} in this organization; \`assay call listPeople\` lists the people, and a deleted person is found only by id`,
	);
}

export interface ErasedPerson {
	organization_id: string;
	id: string;
	/** The name that replaced the person's name. */
	name: string;
	redacted_entries: number;
	devices_without_owner: number;
	/** Number of records that the person still owns. They show the new name. */
	still_owns: number;
	/**
	 * Records and other things whose text still contains the name or an address. Somebody must change
	 * these texts by hand. A published version of a document never changes.
	 */
	mentions: Trace[];
	mentioned_in_entries: number;
	/**
	 * Number of earlier states of the person's record from which the name and addresses were removed.
	 */
	redacted_versions: number;
	/** Number of earlier states of other records whose text still contains the name or an address. */
	mentioned_in_versions: number;
	/** Number of snapshots from which the name and addresses were removed. */
	redacted_snapshots: number;
	/** Number of records in snapshots whose text still contains the name or an address. */
	mentioned_in_snapshots: number;
	/**
	 * E-mail addresses of users with one of the person's addresses. The accounts need an erasure of
	 * their own.
	 */
	accounts: string[];
}

/**
 * Removes a person's name, addresses, position and dates from the register, from the earlier states
 * of the record, and from the audit log. The record remains under a meaningless name. Everything
 * that the person owned therefore still has an owner, and people can choose another one.
 */
export async function erasePerson(
	client: PoolClient,
	organizationId: string,
	who: string,
	by: Principal,
	options: { clearDevices?: boolean } = {},
): Promise<ErasedPerson> {
	const { id, record } = await findPerson(client, organizationId, who);
	const name = `Erased person ${shortId(id)}`;
	const addresses = addressesOf(record);
	const names = (await readFormerNames(client, organizationId, id)).filter(
		(former) => former !== name,
	);
	const texts = [...names, ...addresses];
	const accounts = await client.query<{ email: string }>(
		"select u.email from users u where u.email = any ($1) order by u.email",
		[addresses],
	);
	const erased = {
		full_name: name,
		primary_email_address: `erased-${shortId(id)}@erased.invalid`,
		additional_email_addresses: [],
		position: null,
		contract_start_date: null,
		contract_end_date: null,
	};
	await client.query(
		`update people
		set full_name = $3, primary_email_address = $4, additional_email_addresses = '{}', position = null,
			contract_start_date = null, contract_end_date = null, updated_at = now()
		where organization_id = $1 and id = $2`,
		[organizationId, id, name, erased.primary_email_address],
	);
	// The update above has kept the last state too.
	const versions = await client.query(
		`update record_versions v set fields = v.fields || $3::jsonb
		where v.organization_id = $1 and v.register = 'people' and v.record_id = $2
			and not v.fields @> $3::jsonb`,
		[organizationId, id, JSON.stringify(erased)],
	);
	const snapshots = await eraseInSnapshots(client, organizationId, id, erased);
	// The hash of what was signed stays, so the signature still proves the text.
	for (const table of ["document_approvals", "document_signatures"]) {
		await client.query(
			`update ${table} set person_name = $3, user_name = case when user_id is not null then $3 end
			where organization_id = $1 and person_id = $2`,
			[organizationId, id, name],
		);
	}
	await client.query(
		"update document_signatures set address = null, mailed_to = null where organization_id = $1 and person_id = $2",
		[organizationId, id],
	);
	// Approvals and signatures of deleted documents are kept for the past.
	await client.query(
		`update record_versions v set fields = v.fields || jsonb_build_object('person_name', $3::text)
			|| case when v.fields ? 'address' then '{"address": null, "mailed_to": null}'::jsonb else '{}' end
			|| case when v.fields ->> 'user_id' is null then '{}' else jsonb_build_object('user_name', $3::text) end
		where v.organization_id = $1 and v.register in ('document_approvals', 'document_signatures')
			and v.fields ->> 'person_id' = $2`,
		[organizationId, id, name],
	);
	const devices = options.clearDevices
		? await client.query(
				"update devices set owner_id = null, updated_at = now() where organization_id = $1 and owner_id = $2",
				[organizationId, id],
			)
		: undefined;
	// The answers that are kept for repeated calls may contain the person's name.
	await client.query(
		"delete from idempotency_keys where organization_id = $1",
		[organizationId],
	);
	const owned = await readOwned(client, organizationId, id);
	const redacted = await redactLog(
		client,
		organizationId,
		{
			recordIds: [id],
			names,
			event: "erasePerson",
			record: { kind: "people", id },
			pseudonym: name,
			snapshots,
		},
		by,
	);
	return {
		organization_id: organizationId,
		id,
		name,
		redacted_entries: redacted,
		devices_without_owner: devices?.rowCount ?? 0,
		still_owns: owned.length,
		mentions: await readMentions(client, organizationId, texts, id),
		mentioned_in_entries: await countEntriesWith(client, organizationId, texts),
		redacted_versions: versions.rowCount ?? 0,
		mentioned_in_versions: await countVersionsWith(
			client,
			organizationId,
			texts,
		),
		redacted_snapshots: Object.keys(snapshots.after).length,
		mentioned_in_snapshots: await countSnapshotRecordsWith(
			client,
			organizationId,
			texts,
		),
		accounts: accounts.rows.map(({ email }) => email),
	};
}

export function addressesOf(record: Person | undefined): string[] {
	if (!record) return [];
	return [
		record.primary_email_address,
		...record.additional_email_addresses,
	].map(normalAddress);
}

/** Returns every name that the person ever had in the register. */
export async function readFormerNames(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<string[]> {
	const { rows } = await client.query<{ name: string }>(
		`select p.full_name as name from people p where p.organization_id = $1 and p.id = $2
		union select v.fields ->> 'full_name' from record_versions v
		where v.organization_id = $1 and v.register = 'people' and v.record_id = $2
		union select e.record_name from audit_entries e
		where e.organization_id = $1 and e.record_id = $2 and e.record_name is not null`,
		[organizationId, id],
	);
	return rows.map(({ name }) => name);
}
