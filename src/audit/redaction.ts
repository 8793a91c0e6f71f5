import type { ClientBase, Pool, PoolClient } from "pg";
import { setRole } from "../db/roles.ts";
import { setOrganization } from "../db/transaction-settings.ts";
import type { Change } from "../operation.ts";
import { type Principal, systemPrincipal } from "../principal.ts";
import { appendChanges } from "./log.ts";
import { sealAll } from "./sealer.ts";

/** Names of the events whose entries list what an erasure removed. */
export const ERASURES = ["eraseUser", "erasePerson"] as const;

/** Text that replaces an erased value. */
export const ERASED = "[erased]";

/**
 * The field of an erasure's entry that lists other entries: `{after: {"<sequence>": …}}`. For each
 * entry, the value lists the erased fields. For an entry without digests, the value is the hash of
 * the entry after the erasure.
 */
const LISTED = "redacted_entries";

/** Number of entries that one entry of an erasure lists. The list then takes about 40 KB. */
const LISTED_AT_ONCE = 500;

/** Fields of a change that reveal nothing about the person, so an erasure keeps them. */
const KEPT_FIELDS = ["role", "kind", "status", LISTED, "snapshots"];

/**
 * Fields of entries about a document or the organization that have names of people or addresses of
 * users. In new entries about documents, these fields have ids instead.
 */
const NAMING_FIELDS =
	"^(version_[0-9]+_(approval|signature|signatures_requested|sign_links?)|emergency_accounts)$";

/** End of the actor's name in an entry about what somebody did by a mailed link. */
export const BY_LINK = "by a link";

/** The person that entries are about. */
export interface Subject {
	/** Ids of records that concern only this person. */
	recordIds: string[];
	/** Id of the user, if the log contains actions of the person. */
	actorId?: string;
	/**
	 * The person's e-mail address in lower case. It is also used to find entries about invitations
	 * that have been deleted.
	 */
	email?: string;
	/** Names and addresses of the person that entries about other records may have. */
	names?: string[];
}

export interface Redaction extends Subject {
	event: (typeof ERASURES)[number];
	/** The record that the entry of the erasure names. */
	record: { kind: string; id: string };
	/** Name that replaces the person's name. */
	pseudonym: string;
	/** Snapshots from which the erasure removed the name: their hashes before and after it, by id. */
	snapshots?: { before: Record<string, string>; after: Record<string, string> };
}

/**
 * Returns a condition on an entry: one of the people did it by a link, without an account. The
 * entry then has no id of an actor. `ids` is an SQL array of the ids of these people.
 */
export const isByLink = (e: string, ids: string) =>
	`${e}.actor_kind = 'SYSTEM' and ${e}.actor_name like '%, ${BY_LINK}'
	and (${e}.record_id = any (${ids}) or ${e}.changes -> 'requested_by_person_id' ->> 'after' = any (${ids})
		or jsonb_path_query_array(${e}.changes, '$.*.after.person_id') ?| ${ids})`;

const IS_ACTOR = `coalesce(e.actor_id = $2, ${isByLink("e", "$3")}, false)`;
const IS_SUBJECT =
	"coalesce(e.record_id = any ($3) or (e.record_kind = 'invitation' and lower(e.record_name) = $4), false)";

/** SQL for whether a value within the change `c` is one of `texts`, an SQL array. */
const hasOneOf = (texts: string) => `exists (
	select from jsonb_path_query(c.change, '$.**') v (value)
	where jsonb_typeof(v.value) = 'string' and v.value #>> '{}' = any (${texts})
)`;

/**
 * SQL for whether the change `c` of an entry `e` about another record names the subject. A
 * signature or an approval by a user has the user's name of that time, so this finds it by the
 * actor.
 */
const IS_NAMING = `(c.field ~ '${NAMING_FIELDS}' and (
	${hasOneOf("$5")}
	or e.actor_id = $2 and jsonb_typeof(c.change #> '{after,person}') = 'string'
))`;

/** SQL for whether a change of the entry `e` fulfils the condition. */
const someChange = (condition: string) => `exists (
	select from jsonb_each(e.changes) c (field, change) where ${condition}
)`;

const NAMES_SUBJECT = `(e.record_kind in ('document', 'organization')
	and coalesce(${someChange(IS_NAMING)}, false))`;

const placeholders = (organizationId: string, subject: Subject): unknown[] => [
	organizationId,
	subject.actorId ?? null,
	subject.recordIds,
	subject.email ?? null,
	subject.names ?? [],
];

const SEAL_NUMBER = `(
	select s.sequence from audit_seals s where s.organization_id = e.organization_id and s.entry_id = e.id
)`;

/**
 * Reads the entries about the subject in an organization's log, oldest first. `client` acts as
 * assay_privacy.
 */
export async function readEntriesAbout(
	client: PoolClient,
	organizationId: string,
	subject: Subject,
): Promise<object[]> {
	const { rows } = await client.query<{ entry: object }>(
		`select to_jsonb(e) - '{id,hash_version,digests,salts}'::text[]
			|| jsonb_build_object('sequence', ${SEAL_NUMBER}) as entry
		from audit_entries e
		where e.organization_id = $1 and (${IS_ACTOR} or ${IS_SUBJECT} or ${NAMES_SUBJECT}
			or e.record_kind = 'document' and ${someChange(`c.field ~ '${NAMING_FIELDS}' and ${hasOneOf("$3")}`)})
		order by e.id`,
		placeholders(organizationId, subject),
	);
	return rows.map(({ entry }) => entry);
}

/**
 * Removes a person from an organization's log: names, addresses, clients, and the values of records
 * about that person. If a field of an entry about a document names the person, the whole field is
 * erased, even if it names others. An entry keeps its hash, so the chain and every hash that
 * somebody noted elsewhere stay valid. The salt of a field is erased with the field, so that nobody
 * can confirm a guess of its value. A new entry, which the chain protects, lists the erased fields.
 * `client` acts as assay_privacy. The function seals first and lets nobody else seal until the
 * transaction ends, so call it last.
 *
 * Returns the number of entries that were redacted. A second call finds nothing and adds nothing.
 */
export async function redactLog(
	client: PoolClient,
	organizationId: string,
	redaction: Redaction,
	by: Principal = systemPrincipal(organizationId),
): Promise<number> {
	// The list of what the erasure removed names entries by their numbers.
	await asApp(client, organizationId, () => sealAll(client));
	const { rows } = await client.query<{ sequence: string; listed: Listed }>(
		`
		with found as (
			select e.organization_id, e.id, s.sequence, s.previous_hash,
				${IS_ACTOR} as is_actor, ${IS_SUBJECT} as is_subject
			from audit_entries e
			join audit_seals s on s.organization_id = e.organization_id and s.entry_id = e.id
			where e.organization_id = $1 and (${IS_ACTOR} or ${IS_SUBJECT} or ${NAMES_SUBJECT})
		), redacted as (
			select f.organization_id, f.id, f.sequence, f.previous_hash,
				case when f.is_actor then $6 else e.actor_name end as actor_name,
				case when f.is_actor and e.token_name is not null then '${ERASED}' else e.token_name end as token_name,
				case when not f.is_actor then e.client end as client,
				case when not f.is_actor then e.address end as address,
				case when f.is_subject and e.record_name is not null then $6 else e.record_name end as record_name,
				(
					select coalesce(jsonb_object_agg(c.field, case
						when c.field = any ($7) or jsonb_typeof(c.change) <> 'object' then c.change
						when not f.is_subject and not coalesce(${IS_NAMING}, false) then c.change
						else (
							select coalesce(jsonb_object_agg(v.at, case
								when jsonb_typeof(v.value) in ('null', 'boolean') or v.value in ('[]', '{}') then v.value
								else to_jsonb('${ERASED}'::text)
							end), '{}')
							from jsonb_each(c.change) v (at, value)
						)
					end), '{}')
					from jsonb_each(e.changes) c (field, change)
				) as changes
			from found f join audit_entries e using (organization_id, id)
		), erased as (
			select r.*, array(
				select f.field
				from audit_entries e, lateral (values
					('actor_name', e.actor_name, r.actor_name), ('token_name', e.token_name, r.token_name),
					('client', e.client, r.client), ('address', e.address, r.address),
					('record_name', e.record_name, r.record_name)
				) f (field, before, after)
				where e.organization_id = r.organization_id and e.id = r.id
					and f.before is distinct from f.after
				union all
				select 'changes.' || c.key
				from audit_entries e, jsonb_each(e.changes) c
				where e.organization_id = r.organization_id and e.id = r.id
					and c.value is distinct from r.changes -> c.key
			) as fields
			from redacted r
		)
		update audit_entries e
		set actor_name = r.actor_name, token_name = r.token_name, client = r.client, address = r.address,
			record_name = r.record_name, changes = r.changes, salts = e.salts - r.fields
		from erased r
		where e.organization_id = r.organization_id and e.id = r.id
			and (e.actor_name, e.token_name, e.client, e.address, e.record_name, e.changes)
				is distinct from (r.actor_name, r.token_name, r.client, r.address, r.record_name, r.changes)
		returning r.sequence, case
			when e.hash_version is null
				then to_jsonb(encode(audit_entry_hash(e, r.sequence, r.previous_hash), 'hex'))
			else to_jsonb(r.fields)
		end as listed`,
		[
			...placeholders(organizationId, redaction),
			redaction.pseudonym,
			KEPT_FIELDS,
		],
	);
	const changes: Change[] = [];
	const { snapshots } = redaction;
	if (snapshots && Object.keys(snapshots.after).length > 0) {
		changes.push({
			...redaction.record,
			name: redaction.pseudonym,
			fields: { snapshots },
		});
	}
	for (let from = 0; from < rows.length; from += LISTED_AT_ONCE) {
		const listed = rows
			.slice(from, from + LISTED_AT_ONCE)
			.map((row) => [row.sequence, row.listed]);
		changes.push({
			...redaction.record,
			name: redaction.pseudonym,
			fields: { [LISTED]: { after: Object.fromEntries(listed) } },
		});
	}
	await asApp(client, organizationId, () =>
		appendChanges(client, by, redaction.event, organizationId, changes),
	);
	return rows.length;
}

/**
 * Runs `work` as the role that may add entries, and may read everything of the organization. The role
 * that changes entries may not add any. Otherwise it could add a false erasure that explains its
 * change.
 */
export async function asApp<Result>(
	client: PoolClient,
	organizationId: string,
	work: () => Promise<Result>,
): Promise<Result> {
	await client.query(setRole("app", "transaction"));
	await client.query(setOrganization(organizationId));
	const result = await work();
	await client.query(setOrganization(""));
	await client.query(setRole("privacy", "transaction"));
	return result;
}

/**
 * The names of an entry's erased fields. For an entry without digests, its hash after the erasure.
 */
type Listed = string[] | string;

/**
 * One item in an erasure's list: the erased fields of another entry, and the name that replaced the
 * person's name.
 */
export interface Listing {
	listed: Listed;
	/** The name that replaced the person's name. */
	pseudonym: string;
}

/** Returns what later entries of erasures list about these entries, by sequence number. */
export async function readRedactions(
	database: Pool | ClientBase,
	organizationId: string,
	sequences: readonly (string | null)[],
): Promise<Map<string, Listing[]>> {
	const { rows } = await database.query<Listing & { sequence: string }>(
		`select l.sequence, l.listed, e.record_name as pseudonym
		from audit_entries e
		cross join lateral jsonb_each(
			case when jsonb_typeof(e.changes #> '{${LISTED},after}') = 'object'
				then e.changes #> '{${LISTED},after}' else '{}' end
		) l (sequence, listed)
		where e.organization_id = $1 and e.operation = any ($2)
			and l.sequence = any ($3)
			and case
				when l.sequence ~ '^[1-9][0-9]{0,17}$' then l.sequence::bigint < ${SEAL_NUMBER}
				else false
			end`,
		[organizationId, ERASURES, sequences],
	);
	const found = new Map<string, Listing[]>();
	for (const row of rows) {
		found.set(row.sequence, [...(found.get(row.sequence) ?? []), row]);
	}
	return found;
}

/**
 * Returns true if an erasure could have left this value. `text` is the text of the field, or
 * undefined if the field is null.
 */
function isErasedForm(
	field: string,
	text: string | undefined,
	pseudonym: string,
): boolean {
	if (field === "client" || field === "address") return text === undefined;
	if (field === "token_name") return text === ERASED;
	if (!field.startsWith("changes.")) return text === pseudonym;
	if (text === undefined) return false;
	const change: unknown = JSON.parse(text);
	if (typeof change !== "object" || change === null) return false;
	return Object.values(change).every(isErasedValue);
}

function isErasedValue(value: unknown): boolean {
	if (value === null || typeof value === "boolean") return true;
	return [ERASED, "[]", "{}"].includes(
		typeof value === "string" ? value : JSON.stringify(value),
	);
}

/**
 * Checks a field whose salt was removed. An erasure must list the field, and the field must have
 * the form that erasures leave.
 */
export function isFieldErased(
	field: string,
	text: string | undefined,
	listings: readonly Listing[],
): boolean {
	return listings.some(
		({ listed, pseudonym }) =>
			Array.isArray(listed) &&
			listed.includes(field) &&
			isErasedForm(field, text, pseudonym),
	);
}

/**
 * Checks an entry without digests that no longer fits its hash. An erasure must list the hash that
 * the entry has now, and either its actor or its record must have the form that erasures leave. For
 * the other fields, the hash cannot show what they were before.
 */
export function isEntryErased(
	hash: string,
	fields: ReadonlyMap<string, string>,
	listings: readonly Listing[],
): boolean {
	return listings.some(({ listed, pseudonym }) => {
		if (listed !== hash) return false;
		const isErased = (field: string) =>
			!fields.has(field) || isErasedForm(field, fields.get(field), pseudonym);
		const isActor =
			fields.get("actor_name") === pseudonym &&
			["token_name", "client", "address"].every(isErased);
		const changes = [...fields.keys()]
			.filter((field) => field.startsWith("changes."))
			.filter((field) => !KEPT_FIELDS.includes(field.slice(8)));
		const isSubject =
			isErased("record_name") &&
			changes.every(isErased) &&
			(fields.has("record_name") || changes.length > 0);
		return isActor || isSubject;
	});
}
