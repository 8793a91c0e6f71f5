import { withTenant } from "../db/pool.ts";
import type { Compose } from "../mail/mailer.ts";
import { type Line, readNews } from "./news.ts";

const lineInMail = (line: Line) =>
	typeof line === "string" ? `- ${line}` : `- ${line.text}\n  ${line.url}`;

/**
 * Makes the mail that tells an administrator what happened. Returns null if the administrator has
 * left, or the channel was switched off.
 */
export const composeEvents: Compose = async (parts, mail) => {
	const { organization_id: organizationId, user_id } = mail;
	if (!organizationId || !user_id) return null;
	const { rows } = await parts.pool.query<{ email: string }>(
		`select u.email from users u
		join memberships s on s.user_id = u.id
		where u.id = $1 and s.organization_id = $2 and s.role = 'admin'`,
		[user_id, organizationId],
	);
	const [admin] = rows;
	if (!admin) return null;
	const news = await withTenant(
		parts.appPool,
		organizationId,
		async (client) => {
			const { rows: found } = await client.query<{
				event_ids: string[];
				further_events: number;
			}>(
				`select m.event_ids, m.further_events from mails m
				join notification_channels c
					on c.organization_id = m.organization_id and c.id = m.channel_id
				where m.organization_id = $1 and m.id = $2 and c.is_enabled`,
				[organizationId, mail.id],
			);
			const [told] = found;
			if (!told) return null;
			return readNews(
				client,
				organizationId,
				told.event_ids,
				told.further_events,
				parts.baseUrl,
			);
		},
	);
	if (!news) return null;
	return {
		to: admin.email,
		subject: `Assay, ${news.title}`,
		text: `${news.lines.map(lineInMail).join("\n")}

${news.url}

You get this mail because you are an administrator. The events are chosen here:

${parts.baseUrl}/o/${organizationId}/settings/notifications
`,
	};
};
