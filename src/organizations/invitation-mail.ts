import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import type { Role } from "../principal.ts";
import { deriveSecret, hashSecret } from "../tokens/secret.ts";

/**
 * Returns the address of an invitation's page. The token follows the #. Browsers do not send that
 * part of an address to a server, so the token appears in no log.
 */
export function invitationUrl(baseUrl: string, token: string): string {
	return `${baseUrl}/invitation#${token}`;
}

interface Invitation {
	email: string;
	role: Role;
	invited_by: string;
	organization_name: string;
	days: number;
}

/**
 * Makes the mail that invites somebody to an organization, and the link in it. Only the mail
 * contains this token. Somebody who uses it has therefore read the mail. Returns null if the
 * invitation was used or revoked, or has expired.
 */
export const composeInvitation: Compose = async (
	{ pool, baseUrl, secret },
	{ id, organization_id, invitation_id },
) => {
	const token = deriveSecret("inv", secret, id);
	const { rows } = await pool.query<Invitation>(
		`update invitations i set mailed_token_hash = decode($3, 'hex')
		from organizations o
		where o.id = i.organization_id and i.organization_id = $1 and i.id = $2
			and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
		returning i.email, i.role, i.invited_by, o.name as organization_name,
			ceil(extract(epoch from i.expires_at - now()) / 86400)::integer as days`,
		[organization_id, invitation_id, hashSecret(token)],
	);
	const [invitation] = rows;
	if (!invitation) return null;
	const { email, role, invited_by, days } = invitation;
	const organization = nameInMail(invitation.organization_name);
	return {
		to: email,
		subject: `Invitation to ${organization} on Assay`,
		text: `${nameInMail(invited_by)} invites you to join ${organization} on Assay, with the role ${role}. Accept within ${days === 1 ? "a day" : `${days} days`}:

${invitationUrl(baseUrl, token)}

If you do not expect this invitation, ignore this mail.
`,
	};
};
