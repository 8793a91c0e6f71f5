import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { dayIn } from "./time-zone.ts";

/**
 * Makes the mail that tells an administrator that the organization will be deleted. Returns null if
 * it was restored, or if the administrator has left.
 */
export const composeDeletion: Compose = async (
	{ pool, baseUrl },
	{ id, user_id },
) => {
	const { rows } = await pool.query<{
		email: string;
		organization_id: string;
		organization_name: string;
		time_zone: string;
		delete_after: Date;
	}>(
		`select u.email, o.id as organization_id, o.name as organization_name,
			o.time_zone, c.delete_after
		from mails m
		join organizations o on o.id = m.organization_id
		join organization_closures c on c.organization_id = o.id and c.kind = 'DELETION'
		join memberships s on s.organization_id = m.organization_id and s.user_id = m.user_id
		join users u on u.id = m.user_id
		where m.id = $1 and m.user_id = $2 and s.role = 'admin'`,
		[id, user_id],
	);
	const [found] = rows;
	if (!found) return null;
	const day = dayIn(found.time_zone, found.delete_after.toISOString());
	const organization = nameInMail(found.organization_name);
	return {
		to: found.email,
		subject: `${organization} on Assay will be deleted on ${day}`,
		text: `Another administrator of ${organization} has closed it. On ${day} it will be deleted with everything in it. Until then, nobody reaches it, and its devices do not report. This page gives the reason:

${baseUrl}/o/${found.organization_id}

If this should not happen, ask the people who run the service to restore the organization before that day. Its id is ${found.organization_id}.
`,
	};
};
