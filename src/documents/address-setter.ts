import type { PoolClient } from "pg";

/** Days before a request to sign in which a member's change of the address makes it doubtful. */
const RECENT_DAYS = 30;

/**
 * The user who set the address that a link to sign was mailed to. The fields are null if the audit
 * log does not say who it was.
 */
export interface AddressSetter {
	address_set_by_id: string | null;
	address_set_by_name: string | null;
	address_set_at: string | null;
	/**
	 * True if a member without the role admin set it shortly before the request to sign, or after it.
	 * This member could have let the service mail the link to a mailbox of their own.
	 */
	is_address_doubtful: boolean;
}

/** Looks up in the audit log who set the address of the person whom a request asks to sign. */
export async function findAddressSetter(
	client: PoolClient,
	organizationId: string,
	signatureId: string,
): Promise<AddressSetter> {
	const { rows } = await client.query<AddressSetter>(
		`select e.actor_id as address_set_by_id, e.actor_name as address_set_by_name, e.at as address_set_at,
			e.actor_id is not null and m.role is distinct from 'admin'
				and e.at > s.requested_at - interval '${RECENT_DAYS} days' as is_address_doubtful
		from document_signatures s
		join audit_entries e on e.organization_id = s.organization_id and e.record_id = s.person_id
		left join memberships m on m.organization_id = e.organization_id and m.user_id = e.actor_id
		where s.organization_id = $1 and s.id = $2
			and e.outcome = 'DONE' and e.changes ? 'primary_email_address'
		order by e.id desc limit 1`,
		[organizationId, signatureId],
	);
	return (
		rows[0] ?? {
			address_set_by_id: null,
			address_set_by_name: null,
			address_set_at: null,
			is_address_doubtful: false,
		}
	);
}
