import { type Message, nameInMail } from "../mail/mail.ts";
import type { Role } from "../principal.ts";

export const INVITATION_DAYS = 7;

/** Returns the text of the mail that invites somebody to an organization. */
export function invitationMail(
	invitation: { email: string; role: Role; invited_by: string },
	organizationName: string,
	url: string,
): Message {
	const organization = nameInMail(organizationName);
	const inviter = nameInMail(invitation.invited_by);
	return {
		to: invitation.email,
		subject: `Invitation to ${organization} on Assay`,
		text: `${inviter} invites you to join ${organization} on Assay, with the role ${invitation.role}. Accept within ${INVITATION_DAYS} days:

${url}

If you do not expect this invitation, ignore this mail.
`,
	};
}
