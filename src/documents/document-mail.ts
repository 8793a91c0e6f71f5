import { withTenant } from "../db/pool.ts";
import { makeId } from "../id.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import type { Context } from "../operation.ts";
import { personOf } from "../organizations/person-of-member.ts";
import { readWaiting } from "./versions.ts";

/** Seconds that a mail waits, so that several requests about a document become one mail. */
const COLLECTED_SECONDS = 60;

/**
 * Queues a mail to each of these people who is a member, about a document that waits for them. Who
 * is no member cannot open the document, and gets none.
 */
export async function queueDocumentMails(
	{ client, membership, services, afterCommit }: Context,
	documentId: string,
	personIds: readonly string[],
): Promise<void> {
	// Without a mail server the mails would wait forever.
	if (!services.mail || personIds.length === 0) return;
	const { organizationId } = membership;
	const { rows } = await client.query<{ id: string }>(
		`select p.id from people p
		where p.organization_id = $1 and p.id = any($2) and exists (
			select from memberships m
			join users u on u.id = m.user_id
			where m.organization_id = $1 and is_live_membership(m.organization_id, m.ends_on)
				and ${personOf("p", "u", "$1")}
		)`,
		[organizationId, personIds],
	);
	const mails = rows.map(({ id }) => ({
		id: makeId(organizationId, "mail"),
		person: id,
	}));
	await client.query(
		`insert into mails (organization_id, id, kind, people_id, record_id, record_kind, due_at)
		select $1::text, n.id, 'DOCUMENT', n.person, $2::text, 'document', now() + $4 * interval '1 second'
		from jsonb_to_recordset($3) n (id text, person text)
		on conflict (organization_id, people_id, record_id) where kind = 'DOCUMENT' and state = 'QUEUED'
		do nothing`,
		[organizationId, documentId, JSON.stringify(mails), COLLECTED_SECONDS],
	);
	afterCommit(() => services.mail?.wake());
}

interface Facts {
	email: string;
	name: string;
	organization: string;
	document_id: string;
}

/**
 * Makes the mail about a document that waits for an approval or a signature. It names the document
 * but does not contain its text. Returns null if the document no longer waits for the person, or the
 * person is no member any more.
 */
export const composeDocument: Compose = async (parts, mail) => {
	const { organization_id: organizationId, people_id: peopleId } = mail;
	if (!organizationId || !peopleId) return null;
	const { appPool, baseUrl } = parts;
	const found = await withTenant(appPool, organizationId, async (client) => {
		const { rows } = await client.query<Facts>(
			`select u.email, u.name, o.name as organization, m.record_id as document_id
			from mails m
			join people p on p.organization_id = m.organization_id and p.id = m.people_id
			join memberships s on s.organization_id = m.organization_id
				and is_live_membership(s.organization_id, s.ends_on)
			join users u on u.id = s.user_id and ${personOf("p", "u", "m.organization_id")}
			join organizations o on o.id = m.organization_id
			where m.organization_id = $1 and m.id = $2
			order by u.id limit 1`,
			[organizationId, mail.id],
		);
		const [facts] = rows;
		if (!facts) return null;
		const waiting = await readWaiting(client, organizationId, peopleId);
		const one = waiting.find((w) => w.document_id === facts.document_id);
		return one ? { ...facts, ...one } : null;
	});
	if (!found) return null;
	const isApproval = found.waits_for === "APPROVAL";
	const title = nameInMail(found.title);
	return {
		to: found.email,
		subject: isApproval
			? `A document waits for your approval at ${nameInMail(found.organization)}`
			: `A document waits for your signature at ${nameInMail(found.organization)}`,
		text: `Hello ${nameInMail(found.name)},

version ${found.version_number} of "${title}" waits for your ${isApproval ? "approval" : "signature"}. Sign in, read it, and ${isApproval ? "approve or reject it" : "sign it"}:

${baseUrl}/o/${organizationId}/r/document/${found.document_id}?show=${found.version_id}

You get this mail once for each version that waits for you. Your home page lists all of them.
`,
	};
};
