import type { Pool, PoolClient } from "pg";
import { AppError } from "../errors.ts";
import { makeId, makeIdWithoutTenant } from "../id.ts";

/** Kinds of mails that belong to an organization. */
export const ORGANIZATION_MAIL_KINDS = [
	"INVITATION",
	"TEST",
	"WEBHOOK_GIVEN_UP",
	"MY_DEVICES",
	"CHAT_GIVEN_UP",
	"EVENTS",
	"DEVICE_ALERT",
	"DEVICE_DIGEST",
	"OVERDUE_WORK",
	"COMMENTS",
	"DOCUMENT",
	"ORGANIZATION_DELETION",
	"EMERGENCY_SIGN_IN",
	"DOMAIN_RECORD",
] as const;

/** The others are about an account, and only the operator sees them. */
export type MailKind =
	| (typeof ORGANIZATION_MAIL_KINDS)[number]
	| "PASSWORD_RESET"
	| "JOIN_ATTEMPT"
	| "NEW_SIGN_IN"
	| "NEW_PASSKEY";

export interface NewMail {
	kind: MailKind;
	/** Absent for a mail about an account. */
	organizationId?: string;
	invitationId?: string;
	userId?: string | null;
	webhookId?: string;
	channelId?: string;
	/** The person in the register who gets the mail. */
	peopleId?: string;
	/** True if this person is a member of the organization. */
	isToMember?: boolean;
}

/**
 * Queues a mail in the transaction of the change that it is about. The caller wakes the mailer
 * after the commit. Returns the id of the mail.
 */
export async function queueMail(
	client: Pick<Pool | PoolClient, "query">,
	mail: NewMail,
): Promise<string> {
	const { kind, organizationId, invitationId, userId } = mail;
	const id = organizationId
		? makeId(organizationId, "mail")
		: makeIdWithoutTenant("mail");
	await client.query(
		`insert into mails (id, organization_id, kind, invitation_id, user_id, webhook_id, channel_id, people_id, is_to_member)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		[
			id,
			organizationId,
			kind,
			invitationId,
			userId,
			mail.webhookId,
			mail.channelId,
			mail.peopleId,
			mail.isToMember ?? false,
		],
	);
	return id;
}

export const MAIL_STATES = ["QUEUED", "SENT", "FAILED", "NOT_NEEDED"] as const;

/** Makes a mail due now, with all its attempts before it. */
export const DUE_AGAIN = "state = 'QUEUED', due_at = now(), attempts = 0";

/** Throws bad_request if a mail in this state was sent or is no longer needed. */
export function requireUnsent(state: string): void {
	if (state === "FAILED" || state === "QUEUED") return;
	throw new AppError(
		"bad_request",
		`the mail is ${state}; only a mail that is QUEUED or FAILED can be retried`,
	);
}
