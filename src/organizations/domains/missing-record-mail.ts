import type { Compose } from "../../mail/mailer.ts";
import { nameInMail } from "../../mail/message.ts";
import { KEPT_DAYS } from "./domain-store.ts";

/**
 * Makes the mail that tells an administrator that the TXT record of a verified domain is gone. Returns
 * null if every record is back, or if the administrator has left.
 */
export const composeMissingRecord: Compose = async (
	{ pool, baseUrl },
	{ id, user_id },
) => {
	const { rows } = await pool.query<{
		email: string;
		organization_id: string;
		organization_name: string;
		domain: string;
		until: string;
	}>(
		`select u.email, o.id as organization_id, o.name as organization_name, d.domain,
			to_char(
				(d.missing_since + $3 * interval '1 day') at time zone 'UTC',
				'FMDD FMMonth YYYY "at" HH24:MI'
			) as until
		from mails m
		join organizations o on o.id = m.organization_id
		join memberships s on s.organization_id = m.organization_id and s.user_id = m.user_id
		join users u on u.id = m.user_id
		join organization_domains d on d.organization_id = o.id and d.missing_since is not null
		where m.id = $1 and m.user_id = $2 and s.role = 'admin'
		order by d.domain limit 20`,
		[id, user_id, KEPT_DAYS],
	);
	const [found] = rows;
	if (!found) return null;
	const organization = nameInMail(found.organization_name);
	const domains = rows.map(
		({ domain, until }) => `${domain}, verified until ${until} UTC`,
	);
	return {
		to: found.email,
		subject: `A domain of ${organization} on Assay loses its verification`,
		text: `The TXT record with which ${organization} has proved a domain is gone:

${domains.join("\n")}

Publish the record again before that time. This page shows it. Otherwise people with such an address are no longer provisioned, and the identity provider of ${organization} vouches for them only within limits. Members stay.

${baseUrl}/o/${found.organization_id}/settings/sign-in
`,
	};
};
