import type { PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import { makeId } from "../id.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import type { Context } from "../operation.ts";
import { REACH, type Reach } from "./reach.ts";
import { makeSignToken, SIGN_DAYS, signUrl } from "./sign-link.ts";
import { readWaiting } from "./versions.ts";

/** Seconds that a mail waits, so that several requests about a document become one mail. */
const COLLECTED_SECONDS = 60;

/**
 * Queues a mail to each of these people about a document that waits for them. Only members approve.
 * Others get a link with which they sign.
 */
export async function queueDocumentMails(
	{ client, membership, services, afterCommit }: Context,
	documentId: string,
	personIds: readonly string[],
	waitsFor: "APPROVAL" | "SIGNATURE",
): Promise<void> {
	// Without a mail server the mails would wait forever.
	if (!services.mail || personIds.length === 0) return;
	const { organizationId } = membership;
	const { rows } = await client.query<{ id: string }>(
		`select p.id from people p
		where p.organization_id = $1 and p.id = any($3)
			and ${REACH} = any($4)`,
		[
			organizationId,
			documentId,
			personIds,
			waitsFor === "SIGNATURE" ? ["ACCOUNT", "LINK"] : ["ACCOUNT"],
		],
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
	/** The name of the member, or of the person without an account. */
	name: string;
	email: string;
	organization: string;
	document_id: string;
	reach: Reach;
}

/**
 * Makes the mail about a document that waits for an approval or a signature. It names the document
 * but does not contain its text. Returns null if the document no longer waits for the person, or the
 * person can do nothing about it any more.
 */
export const composeDocument: Compose = async (parts, mail) => {
	const { organization_id: organizationId, people_id: peopleId } = mail;
	if (!organizationId || !peopleId) return null;
	const { appPool, baseUrl, secret } = parts;
	const found = await withTenant(appPool, organizationId, async (client) => {
		const { rows } = await client.query<Facts>(
			`select p.full_name as name, p.primary_email_address as email, o.name as organization,
				$2::text as document_id, ${REACH} as reach
			from mails m
			join people p on p.organization_id = m.organization_id and p.id = m.people_id
			join organizations o on o.id = m.organization_id
			where m.organization_id = $1 and m.id = $3`,
			[
				organizationId,
				await documentOf(client, organizationId, mail.id),
				mail.id,
			],
		);
		const [facts] = rows;
		if (!facts) return null;
		const waiting = await readWaiting(client, organizationId, peopleId);
		const one = waiting.find((w) => w.document_id === facts.document_id);
		if (!one) return null;
		if (facts.reach === "ACCOUNT") {
			return { ...facts, ...one, signatureId: undefined };
		}
		if (facts.reach !== "LINK" || one.waits_for !== "SIGNATURE") return null;
		const { rows: signatures } = await client.query<{ id: string }>(
			"select id from document_signatures where organization_id = $1 and version_id = $2 and person_id = $3",
			[organizationId, one.version_id, peopleId],
		);
		return { ...facts, ...one, signatureId: signatures[0]?.id };
	});
	if (!found) return null;
	const { signatureId } = found;
	const isApproval = found.waits_for === "APPROVAL";
	const title = nameInMail(found.title);
	const url = signatureId
		? signUrl(
				baseUrl,
				makeSignToken(secret, { organizationId, signatureId }, found.email),
			)
		: `${baseUrl}/o/${organizationId}/r/document/${found.document_id}?show=${found.version_id}`;
	const how = signatureId
		? "You need no account. Read it and sign it"
		: `Sign in, read it, and ${isApproval ? "approve or reject it" : "sign it"}`;
	const end = signatureId
		? `The link is for you alone. It works for ${SIGN_DAYS} days.`
		: "You get this mail once for each version that waits for you. Your home page lists all of them.";
	return {
		to: found.email,
		subject: isApproval
			? `A document waits for your approval at ${nameInMail(found.organization)}`
			: `A document waits for your signature at ${nameInMail(found.organization)}`,
		text: `Hello ${nameInMail(found.name)},

version ${found.version_number} of "${title}" waits for your ${isApproval ? "approval" : "signature"}. ${how}:

${url}

${end}
`,
	};
};

async function documentOf(
	client: PoolClient,
	organizationId: string,
	mailId: string,
): Promise<string> {
	const { rows } = await client.query<{ record_id: string }>(
		"select record_id from mails where organization_id = $1 and id = $2",
		[organizationId, mailId],
	);
	return rows[0]?.record_id ?? "";
}
