import type { PoolClient } from "pg";
import type { TakenMail } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { IS_STAFF } from "../organizations/staff.ts";

export interface Recipient {
	email: string;
	/** The names are safe in a mail. */
	name: string;
	organization: string;
	/** The time zone of the organization, which its days are in. */
	timeZone: string;
}

/**
 * Returns the person who gets a mail. Returns undefined if they have left, have stopped these
 * mails, or the channel is off.
 */
export async function findRecipient(
	client: PoolClient,
	{ id, organization_id }: Pick<TakenMail, "id" | "organization_id">,
): Promise<Recipient | undefined> {
	const { rows } = await client.query<Recipient>(
		`select p.primary_email_address as email, p.full_name as name, o.name as organization,
			o.time_zone as "timeZone"
		from mails m
		join people p on p.organization_id = m.organization_id and p.id = m.people_id
		join organizations o on o.id = m.organization_id
		join notification_channels c
			on c.organization_id = m.organization_id and c.id = m.channel_id and c.is_enabled
		where m.organization_id = $1 and m.id = $2 and ${IS_STAFF} and not exists (
			select from notification_stops s
			where s.organization_id = $1 and s.people_id = m.people_id and s.kind = m.kind
		)`,
		[organization_id, id],
	);
	const [found] = rows;
	return (
		found && {
			email: found.email,
			name: nameInMail(found.name),
			organization: nameInMail(found.organization),
			timeZone: found.timeZone,
		}
	);
}
