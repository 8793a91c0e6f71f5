import type { Pool, PoolClient } from "pg";
import { makeId, makeIdWithoutTenant } from "../id.ts";

export const MAIL_KINDS = [
	"INVITATION",
	"PASSWORD_RESET",
	"JOIN_ATTEMPT",
	"TEST",
	"WEBHOOK_GIVEN_UP",
	"MY_DEVICES",
] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

export interface NewMail {
	kind: MailKind;
	/** Absent for a mail about an account. */
	organizationId?: string;
	invitationId?: string;
	userId?: string | null;
	webhookId?: string;
	/** The person in the register whom the mail is for. */
	peopleId?: string;
}

/**
 * Queues a mail in the transaction of the change that it is about. The caller wakes the mailer
 * after the commit. Returns the id of the mail.
 */
export async function queueMail(
	client: Pick<Pool | PoolClient, "query">,
	{ kind, organizationId, invitationId, userId, webhookId, peopleId }: NewMail,
): Promise<string> {
	const id = organizationId
		? makeId(organizationId, "mail")
		: makeIdWithoutTenant("mail");
	await client.query(
		`insert into mails (id, organization_id, kind, invitation_id, user_id, webhook_id, people_id)
		values ($1, $2, $3, $4, $5, $6, $7)`,
		[id, organizationId, kind, invitationId, userId, webhookId, peopleId],
	);
	return id;
}
