import { withTenant } from "../db/pool.ts";
import { makeId } from "../id.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import type { Context } from "../operation.ts";
import { REACH, type Reach, reachIn } from "./reach.ts";
import { SIGN_DAYS } from "./sign-limits.ts";
import { makeSignToken, signUrl } from "./sign-link.ts";
import { type VersionRow, waitsFor } from "./versions.ts";

/** Seconds that a mail waits, so that several requests about a document become one mail. */
const COLLECTED_SECONDS = 60;

/**
 * Queues a mail to each of these people about a version that waits for them. Only members approve.
 * Others get a link with which they sign. People who share the address of an account get one mail.
 */
export async function queueDocumentMails(
	{ client, membership, services, afterCommit }: Context,
	version: Pick<VersionRow, "id" | "document_id">,
	personIds: readonly string[],
	waitsFor: "APPROVAL" | "SIGNATURE",
): Promise<void> {
	// Without a mail server the mails would wait forever.
	if (!services.mail || personIds.length === 0) return;
	const { organizationId } = membership;
	const { rows } = await client.query<{ id: string }>(
		`select distinct on (case r.reach when 'ACCOUNT' then lower(r.address) else r.id end) r.id
		from (
			select p.id, p.primary_email_address as address, p.created_at, ${REACH} as reach
			from people p where p.organization_id = $1 and p.id = any($3)
		) r
		where r.reach = any($4)
		order by case r.reach when 'ACCOUNT' then lower(r.address) else r.id end, r.created_at, r.id`,
		[
			organizationId,
			version.document_id,
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
		select $1::text, n.id, 'DOCUMENT', n.person, $2::text, 'document_version',
			now() + $4 * interval '1 second'
		from jsonb_to_recordset($3) n (id text, person text)
		on conflict (organization_id, people_id, record_id) where kind = 'DOCUMENT' and state = 'QUEUED'
		do nothing`,
		[organizationId, version.id, JSON.stringify(mails), COLLECTED_SECONDS],
	);
	afterCommit(() => services.mail?.wake());
}

interface Facts {
	/** The name of the member, or of the person without an account. */
	name: string;
	email: string;
	organization: string;
	document_id: string;
	version_id: string;
	version_number: number;
	title: string;
	reach: Reach;
	waits_for: "APPROVAL" | "SIGNATURE";
	signature_id: string | null;
	is_reminder: boolean;
}

/**
 * Makes the mail about a version of a document that waits for an approval or a signature. It names
 * the document but does not contain its text. Returns null if the version no longer waits for the
 * person, or the person can do nothing about it any more.
 */
export const composeDocument: Compose = async (parts, mail) => {
	const { organization_id: organizationId } = mail;
	if (!organizationId) return null;
	const { appPool, baseUrl, secret } = parts;
	const { rows } = await withTenant(appPool, organizationId, (client) =>
		client.query<Facts>(
			// Mails that the previous version of Assay queued name the document.
			`select * from (
				select p.full_name as name, p.primary_email_address as email, o.name as organization,
					v.document_id, v.id as version_id, v.version_number, v.title, s.id as signature_id,
					s.reminded_at is not null as is_reminder, ${reachIn("v.document_id")} as reach,
					${waitsFor("array[p.id::text]")} as waits_for
				from mails m
				join people p on p.organization_id = m.organization_id and p.id = m.people_id
				join organizations o on o.id = m.organization_id
				join document_versions v on v.organization_id = m.organization_id
					and (v.id = m.record_id or v.document_id = m.record_id)
				left join document_signatures s on s.organization_id = v.organization_id
					and s.version_id = v.id and s.person_id = p.id
				where m.organization_id = $1 and m.id = $2
			) f
			where f.waits_for is not null
			order by f.version_number desc limit 1`,
			[organizationId, mail.id],
		),
	);
	const [found] = rows;
	if (!found) return null;
	const isApproval = found.waits_for === "APPROVAL";
	const hasAccount = found.reach === "ACCOUNT";
	if (!hasAccount && (found.reach !== "LINK" || isApproval)) return null;
	const signatureId = hasAccount ? null : found.signature_id;
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
		: "Your home page lists all versions that wait for you.";
	const what = isApproval ? "approval" : "signature";
	const isReminder = !isApproval && found.is_reminder;
	return {
		to: found.email,
		subject: `${isReminder ? "Reminder: a" : "A"} document waits for your ${what} at ${nameInMail(found.organization)}`,
		text: `Hello ${nameInMail(found.name)},

version ${found.version_number} of "${title}" ${isReminder ? "still waits" : "waits"} for your ${what}. ${how}:

${url}

${end}
`,
	};
};
