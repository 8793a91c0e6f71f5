import { withTenant } from "../db/pool.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { DISABLED_AFTER_DAYS } from "../outgoing/disabled-after.ts";

/**
 * Makes the mail that tells an administrator that a chat was disabled. Returns null if it was
 * enabled again or deleted, or if the administrator has left.
 */
export const composeGivenUpChat: Compose = async (
	{ pool, appPool, baseUrl },
	mail,
) => {
	const { organization_id: organizationId, user_id } = mail;
	if (!organizationId || !user_id) return null;
	const { rows: admins } = await pool.query<{ email: string }>(
		`select u.email from users u
		join memberships s on s.user_id = u.id
		where u.id = $1 and s.organization_id = $2 and s.role = 'admin'`,
		[user_id, organizationId],
	);
	const { rows: chats } = await withTenant(appPool, organizationId, (client) =>
		client.query<{ name: string; organization: string }>(
			`select c.name, o.name as organization from mails m
			join notification_channels c
				on c.organization_id = m.organization_id and c.id = m.channel_id
			join organizations o on o.id = m.organization_id
			where m.organization_id = $1 and m.id = $2 and not c.is_enabled
				and c.failing_since is not null`,
			[organizationId, mail.id],
		),
	);
	const [[admin], [chat]] = [admins, chats];
	if (!admin || !chat) return null;
	return {
		to: admin.email,
		subject: `A chat of ${nameInMail(chat.organization)} on Assay is disabled`,
		text: `The channel "${nameInMail(chat.name)}" has failed for ${DISABLED_AFTER_DAYS} days. Assay no longer sends messages to that chat. Correct its address, and then enable the channel here:

${baseUrl}/o/${organizationId}/settings/notifications
`,
	};
};
