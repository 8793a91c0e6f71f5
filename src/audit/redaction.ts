import type { ClientBase, Pool, PoolClient } from "pg";
import { type Principal, systemPrincipal } from "../principal.ts";
import { appendChanges } from "./log.ts";

/** The events whose entries list what was redacted. */
export const ERASURES = ["eraseUser", "erasePerson"] as const;

/** What stands where a value was. */
export const ERASED = "[erased]";

/** In an erasure's entry: `{after: {"<sequence>": "<hash of the entry as it is now>"}}`. */
const LISTED = "redacted_entries";

/** Entries that one erasure's entry lists, some 40 KB. */
const LISTED_AT_ONCE = 500;

/** Fields of a change that say nothing about who it was. */
const KEPT_FIELDS = ["role", "kind", "status", LISTED];

/** Whom entries are about. */
export interface Subject {
	/** Ids of records that are about nobody else. */
	recordIds: string[];
	/** The user whose acts are in the log. */
	actorId?: string;
	/** Lower case. Invitations are found by address too: the record may be gone. */
	email?: string;
}

export interface Redaction extends Subject {
	event: (typeof ERASURES)[number];
	/** The record that the erasure's entry names. */
	record: { kind: string; id: string };
	/** In place of the name. */
	pseudonym: string;
}

const IS_ACTOR = "coalesce(e.actor_id = $2, false)";
const IS_SUBJECT =
	"coalesce(e.record_id = any ($3) or (e.record_kind = 'invitation' and lower(e.record_name) = $4), false)";
const IS_ABOUT = `e.organization_id = $1 and (${IS_ACTOR} or ${IS_SUBJECT})`;

function placeholders(organizationId: string, subject: Subject): unknown[] {
	return [
		organizationId,
		subject.actorId ?? null,
		subject.recordIds,
		subject.email ?? null,
	];
}

/** What an organization's log has of the subject, oldest first. `client` is one of assay_privacy. */
export async function readEntriesAbout(
	client: PoolClient,
	organizationId: string,
	subject: Subject,
): Promise<object[]> {
	const { rows } = await client.query<{ entry: object }>(
		`select to_jsonb(e) - 'hash' - 'previous_hash' as entry from audit_entries e
		where ${IS_ABOUT} order by e.sequence`,
		placeholders(organizationId, subject),
	);
	return rows.map(({ entry }) => entry);
}

/**
 * Takes a person out of an organization's log: names, addresses, clients, and the values of records
 * about that person. An entry keeps its hash, so the chain and every hash noted elsewhere stay as they
 * are; which entries their hash no longer fits, and what each is now, is listed in a new entry, which the
 * chain holds. `client` is one of assay_privacy. It locks the chain: call it last, organizations in order.
 *
 * Gives how many entries were redacted. Called again it finds nothing, and adds nothing.
 */
export async function redactLog(
	client: PoolClient,
	organizationId: string,
	redaction: Redaction,
	by: Principal = systemPrincipal(organizationId),
): Promise<number> {
	// Adds nothing but locks: no entry comes between the look and the list.
	await client.query("select audit_append($1, '[]')", [organizationId]);
	const { rows } = await client.query<{ sequence: string; hash: string }>(
		`
		with found as (
			select e.organization_id, e.sequence, ${IS_ACTOR} as is_actor, ${IS_SUBJECT} as is_subject
			from audit_entries e where ${IS_ABOUT}
		), redacted as (
			select f.organization_id, f.sequence,
				case when f.is_actor then $5 else e.actor_name end as actor_name,
				case when f.is_actor and e.token_name is not null then '${ERASED}' else e.token_name end as token_name,
				case when not f.is_actor then e.client end as client,
				case when not f.is_actor then e.address end as address,
				case when f.is_subject and e.record_name is not null then $5 else e.record_name end as record_name,
				case when f.is_subject then (
					select coalesce(jsonb_object_agg(c.field, case
						when c.field = any ($6) or jsonb_typeof(c.change) <> 'object' then c.change
						else (
							select coalesce(jsonb_object_agg(v.at, case
								when jsonb_typeof(v.value) in ('null', 'boolean') or v.value in ('[]', '{}') then v.value
								else to_jsonb('${ERASED}'::text)
							end), '{}')
							from jsonb_each(c.change) v (at, value)
						)
					end), '{}')
					from jsonb_each(e.changes) c (field, change)
				) else e.changes end as changes
			from found f join audit_entries e using (organization_id, sequence)
		)
		update audit_entries e
		set actor_name = r.actor_name, token_name = r.token_name, client = r.client, address = r.address,
			record_name = r.record_name, changes = r.changes
		from redacted r
		where e.organization_id = r.organization_id and e.sequence = r.sequence
			and (e.actor_name, e.token_name, e.client, e.address, e.record_name, e.changes)
				is distinct from (r.actor_name, r.token_name, r.client, r.address, r.record_name, r.changes)
		returning e.sequence, encode(audit_entry_hash(e), 'hex') as hash`,
		[
			...placeholders(organizationId, redaction),
			redaction.pseudonym,
			KEPT_FIELDS,
		],
	);
	const changes = [];
	for (let from = 0; from < rows.length; from += LISTED_AT_ONCE) {
		const listed = rows
			.slice(from, from + LISTED_AT_ONCE)
			.map(({ sequence, hash }) => [sequence, hash]);
		changes.push({
			...redaction.record,
			name: redaction.pseudonym,
			fields: { [LISTED]: { after: Object.fromEntries(listed) } },
		});
	}
	await appendChanges(client, by, redaction.event, organizationId, changes);
	return rows.length;
}

/** `<sequence>:<hash>` of each of these entries as an erasure left it. Only entries before the erasure count. */
export async function readRedactions(
	database: Pool | ClientBase,
	organizationId: string,
	sequences: readonly (string | null)[],
): Promise<Set<string>> {
	const { rows } = await database.query<{ listed: string }>(
		`select l.sequence || ':' || l.hash as listed
		from audit_entries e
		cross join lateral jsonb_each_text(
			case when jsonb_typeof(e.changes #> '{${LISTED},after}') = 'object'
				then e.changes #> '{${LISTED},after}' else '{}' end
		) l (sequence, hash)
		where e.organization_id = $1 and e.operation = any ($2)
			and l.sequence = any ($3)
			and case when l.sequence ~ '^[1-9][0-9]{0,17}$' then l.sequence::bigint < e.sequence else false end`,
		[organizationId, ERASURES, sequences],
	);
	return new Set(rows.map(({ listed }) => listed));
}
