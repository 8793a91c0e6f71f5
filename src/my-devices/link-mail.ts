import type { PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import type { Compose, ComposeParts, TakenMail } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { deriveSecret } from "../tokens/secret.ts";
import {
	findUsable,
	LINK_DAYS,
	myDevicesUrl,
	storeMyDevicesLink,
} from "./links.ts";

/**
 * Returns the link for a mail to a person at `address`. The first attempt to send the mail stores the
 * link, and a later attempt has the same one. Returns null if the link was used or withdrawn
 * meanwhile, or if the person has another address now.
 */
export async function linkForMail(
	{ appPool, baseUrl, secret }: ComposeParts,
	mail: TakenMail,
	organizationId: string,
	peopleId: string,
	address: string,
): Promise<string | null> {
	const token = deriveSecret("myd", secret, mail.id);
	const isThere = await withTenant(appPool, organizationId, async (client) => {
		// A change of the address waits for the lock, and then ends this link too.
		const { rowCount } = await client.query(
			`select from people
			where organization_id = $1 and id = $2 and primary_email_address = $3 for share`,
			[organizationId, peopleId, address],
		);
		if (rowCount === 0) return false;
		if (!mail.is_link_made) {
			await storeMyDevicesLink(client, {
				organizationId,
				peopleId,
				token,
				copiedBy: null,
			});
			await client.query(
				"update mails set is_link_made = true where organization_id = $1 and id = $2",
				[organizationId, mail.id],
			);
		}
		return (await findUsable(client, organizationId, [token])).has(token);
	});
	return isThere ? myDevicesUrl(baseUrl, token) : null;
}

/**
 * Returns those of the people to whom a queued mail will bring a link that works. The state of a mail
 * alone does not say this: a mail is still queued for a moment after the mail server took it, and for
 * minutes if the process ended then. The person may have used its link by that time.
 */
export async function findPeopleWithWaitingLink(
	client: PoolClient,
	secret: string,
	organizationId: string,
	peopleIds: string[],
): Promise<Set<string>> {
	const { rows: mails } = await client.query<{
		id: string;
		people_id: string;
		is_link_made: boolean;
	}>(
		`select id, people_id, is_link_made from mails
		where organization_id = $1 and people_id = any($2) and kind = 'MY_DEVICES'
			and state = 'QUEUED'`,
		[organizationId, peopleIds],
	);
	if (mails.length === 0) return new Set();
	const tokenOf = ({ id }: { id: string }) => deriveSecret("myd", secret, id);
	const usable = await findUsable(
		client,
		organizationId,
		mails.filter(({ is_link_made }) => is_link_made).map(tokenOf),
	);
	return new Set(
		mails
			.filter((mail) => !mail.is_link_made || usable.has(tokenOf(mail)))
			.map(({ people_id }) => people_id),
	);
}

/**
 * Makes the mail with a link to the devices of a person. Returns null if the person has left or
 * owns no device any more.
 */
export const composeMyDevices: Compose = async (parts, mail) => {
	const { organization_id: organizationId, people_id: peopleId } = mail;
	if (!organizationId || !peopleId) return null;
	const person = await withTenant(
		parts.appPool,
		organizationId,
		async (client) => {
			const { rows } = await client.query<{
				full_name: string;
				email: string;
				organization_name: string;
			}>(
				`select p.full_name, p.primary_email_address as email, o.name as organization_name
				from people p join organizations o on o.id = p.organization_id
				where p.organization_id = $1 and p.id = $2 and ${IS_STAFF} and exists (
					select from devices d
					where d.organization_id = $1 and d.owner_id = p.id and d.status <> 'REVOKED'
				)`,
				[organizationId, peopleId],
			);
			return rows[0];
		},
	);
	if (!person) return null;
	const link = await linkForMail(
		parts,
		mail,
		organizationId,
		peopleId,
		person.email,
	);
	if (!link) return null;
	const organization = nameInMail(person.organization_name);
	return {
		to: person.email,
		subject: `Your devices at ${organization}`,
		text: `Hello ${nameInMail(person.full_name)},

this link shows how the devices that you use at ${organization} are secured, what has to be fixed and how. You need no account:

${link}

The link works once, within ${LINK_DAYS} days. The page can send you a new one.
`,
	};
};
