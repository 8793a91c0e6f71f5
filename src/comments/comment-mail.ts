import type { PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import { kindNoun, makeId } from "../id.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import {
	makeStopToken,
	stopHeaders,
	stopUrl,
} from "../notifications/stop-link.ts";
import type { Context } from "../operation.ts";
import { joinPersonOf, personOf } from "../organizations/person-of-member.ts";
import { namedKindOf, namedKinds } from "../records/searchable-kinds.ts";
import type { NamedRecord } from "./records.ts";

/** A mail waits this long, so that an answer that comes at once is in the same mail. */
const COLLECTED_SECONDS = 60;
/** A person gets at most one mail about a record in this time. */
const APART_SECONDS = 3600;
/** A comment is stored a moment after the time that it has. No transaction takes longer. */
const SLACK_SECONDS = 30;

/**
 * Queues a mail for each member who watches the record or is mentioned, but not for the author.
 * While a mail about the record waits, further comments go into it, because the mail reads the
 * comments when it is sent. The mail belongs to the member's person, so it can be stopped by a link.
 * `onlyMentioned` leaves out members who only watch, because they already know the comment.
 */
export async function queueCommentMails(
	{ client, membership, principal, services, afterCommit }: Context,
	record: NamedRecord,
	mentionedIds: readonly string[],
	{ onlyMentioned = false } = {},
): Promise<void> {
	// Without a mail server the mails would wait forever.
	if (!services.mail) return;
	const { organizationId } = membership;
	const { rows } = await client.query<{ person: string }>(
		`select distinct on (m.user_id) p.id as person
		from memberships m
		join users u on u.id = m.user_id
		${joinPersonOf("p", "u", "m.organization_id")}
		where m.organization_id = $1 and m.user_id <> $3
			and is_live_membership(m.organization_id, m.ends_on)
			and (m.user_id = any($4) or not $5 and exists (
				select from record_watches w
				where w.organization_id = $1 and w.user_id = m.user_id and w.record_id = $2
			))
			and not exists (
				select from notification_stops s
				where s.organization_id = $1 and s.people_id = p.id and s.kind = 'COMMENTS'
			)
		order by m.user_id, p.created_at, p.id`,
		[organizationId, record.id, principal.userId, mentionedIds, onlyMentioned],
	);
	if (rows.length === 0) return;
	await client.query(
		`insert into mails (organization_id, id, kind, people_id, record_id, record_kind, due_at)
		select $1::text, n.id, 'COMMENTS', n.person, $2::text, $3::text, greatest(
			now() + ${COLLECTED_SECONDS} * interval '1 second',
			(
				select max(m.sent_at) + ${APART_SECONDS} * interval '1 second' from mails m
				where m.organization_id = $1::text and m.people_id = n.person and m.record_id = $2::text
			)
		)
		from unnest($4::text[], $5::text[]) n (id, person)
		on conflict (organization_id, people_id, record_id)
			where kind = 'COMMENTS' and state = 'QUEUED' do nothing`,
		[
			organizationId,
			record.id,
			record.kind,
			rows.map(() => makeId(organizationId, "mail")),
			rows.map(({ person }) => person),
		],
	);
	afterCommit(() => services.mail?.wake());
}

interface Facts {
	email: string;
	name: string;
	organization: string;
	record_id: string;
	record_kind: string;
	/** The authors of the new comments, the latest first. */
	authors: string[];
	comments: number;
	is_mentioned: boolean;
}

/**
 * Makes the mail about new comments on a record. It names the authors and the record but does not
 * contain the comments: they stay where access to them can be taken away. Returns null if the person
 * is no member any more, has stopped these mails, or the comments were deleted.
 */
export const composeComments: Compose = async (parts, mail) => {
	const { organization_id: organizationId, people_id: peopleId } = mail;
	if (!organizationId || !peopleId) return null;
	const { appPool, baseUrl, secret } = parts;
	const found = await withTenant(appPool, organizationId, async (client) => {
		const facts = await readFacts(client, organizationId, mail.id);
		const named = facts && namedKindOf(namedKinds, facts.record_id);
		if (!facts || !named) return null;
		const { rows } = await client.query<{ name: string | null }>(
			`select left(${named.nameOf("t")}, 200) as name from ${named.table} t
			where t.organization_id = $1 and t.id = $2`,
			[organizationId, facts.record_id],
		);
		return rows[0] ? { ...facts, record: rows[0].name ?? "" } : null;
	});
	if (!found || found.comments === 0) return null;
	const stop = makeStopToken(secret, {
		organizationId,
		peopleId,
		kind: "COMMENTS",
	});
	const path =
		found.record_kind === "device"
			? `devices/${found.record_id}?tab=comments`
			: `r/${found.record_kind}/${found.record_id}`;
	const what = `the ${kindNoun(found.record_kind as never)} "${nameInMail(found.record)}"`;
	const who = namesOf(found.authors.map(nameInMail));
	const count =
		found.comments === 1 ? "a comment" : `${found.comments} comments`;
	return {
		to: found.email,
		subject: found.is_mentioned
			? `You are mentioned in a comment at ${nameInMail(found.organization)}`
			: `New comments at ${nameInMail(found.organization)}`,
		text: `Hello ${nameInMail(found.name)},

${who} wrote ${count} on ${what}${found.is_mentioned ? " and mentioned you" : ""}. Read and answer:

${baseUrl}/o/${organizationId}/${path}

You get this mail because you watch the record or are mentioned, at most once an hour for each record. "Stop watching" on the page of the record ends the mails about it. This link stops all mails about comments:

${stopUrl(baseUrl, stop)}
`,
		headers: stopHeaders(baseUrl, stop),
	};
};

async function readFacts(
	client: PoolClient,
	organizationId: string,
	mailId: string,
): Promise<Facts | undefined> {
	const { rows } = await client.query<Facts>(
		`select u.email, u.name, o.name as organization, m.record_id, m.record_kind, c.*
		from mails m
		join people p on p.organization_id = m.organization_id and p.id = m.people_id
		join memberships s on s.organization_id = m.organization_id
			and is_live_membership(s.organization_id, s.ends_on)
		join users u on u.id = s.user_id and ${personOf("p", "u", "m.organization_id")}
		join organizations o on o.id = m.organization_id
		cross join lateral (
			select count(*)::int as comments,
				array(
					select a.author_name from record_comments a
					where a.organization_id = $1 and a.record_id = m.record_id and a.author_id <> u.id
						and ${isNew("a")}
					group by a.author_name order by max(a.created_at) desc limit 4
				) as authors,
				coalesce(bool_or(u.id = any(c.mentioned_ids)), false) as is_mentioned
			from record_comments c
			where c.organization_id = $1 and c.record_id = m.record_id and c.author_id <> u.id
				and ${isNew("c")}
		) c
		where m.organization_id = $1 and m.id = $2 and not exists (
			select from notification_stops x
			where x.organization_id = $1 and x.people_id = m.people_id and x.kind = m.kind
		)`,
		[organizationId, mailId],
	);
	return rows[0];
}

/**
 * SQL for a comment that is new since the last mail about the record, or since this one was queued.
 * A correction may mention somebody whom the comment did not mention.
 */
const isNew = (comment: string) => `case
	when u.id = any(${comment}.mentioned_ids) then greatest(${comment}.created_at, ${comment}.edited_at)
	else ${comment}.created_at
end > greatest(
	m.created_at - ${SLACK_SECONDS} * interval '1 second',
	(
		select max(b.sent_at) from mails b
		where b.organization_id = m.organization_id and b.people_id = m.people_id
			and b.record_id = m.record_id
	)
)`;

/** Returns, for example, "Ada, Grace and others". At most three names are in it. */
function namesOf(names: readonly string[]): string {
	const shown = names.length > 3 ? [...names.slice(0, 3), "others"] : names;
	return shown.length < 2
		? (shown[0] ?? "Somebody")
		: `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
