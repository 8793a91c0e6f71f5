import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { DISABLED_AFTER_DAYS } from "../outgoing/disabled-after.ts";

/**
 * Makes the mail that tells an administrator that a webhook was given up. Returns null if it was
 * switched on again or deleted, or if the administrator has left.
 */
export const composeGivenUp: Compose = async (
	{ pool, baseUrl },
	{ id, user_id },
) => {
	const { rows } = await pool.query<{
		email: string;
		url: string;
		organization_id: string;
		organization_name: string;
	}>(
		`select u.email, w.url, o.id as organization_id, o.name as organization_name
		from mails m
		join webhooks w on w.organization_id = m.organization_id and w.id = m.webhook_id
		join organizations o on o.id = m.organization_id
		join memberships s on s.organization_id = m.organization_id and s.user_id = m.user_id
		join users u on u.id = m.user_id
		where m.id = $1 and m.user_id = $2 and s.role = 'admin' and w.given_up_at is not null`,
		[id, user_id],
	);
	const [found] = rows;
	if (!found) return null;
	const organization = nameInMail(found.organization_name);
	return {
		to: found.email,
		subject: `A webhook of ${organization} on Assay is disabled`,
		text: `The webhook to ${new URL(found.url).host} has failed for ${DISABLED_AFTER_DAYS} days. Assay no longer sends events to it. Correct the receiver, and then enable the webhook here:

${baseUrl}/o/${found.organization_id}/settings/webhooks
`,
	};
};
