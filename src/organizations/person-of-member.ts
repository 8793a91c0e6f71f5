import type { PoolClient } from "pg";
import { makeId } from "../id.ts";
import type { Change } from "../operation.ts";

/**
 * Adds a person for a new member, unless the organization has a person with the member's e-mail
 * address. A member and a person belong together by their address. The person stays when the member
 * leaves. The transaction acts for the organization. Returns the change for the audit log, if there
 * is one.
 */
export async function addPersonOf(
	client: PoolClient,
	organizationId: string,
	{ name, email }: { name: string; email: string },
): Promise<Change[]> {
	const id = makeId(organizationId, "people");
	const kind = "EMPLOYEE";
	const { rowCount } = await client.query(
		`insert into people (organization_id, id, full_name, primary_email_address, kind)
		select $1::text, $2::text, $3::text, $4::text, $5::text
		where not exists (
			select from people p
			where p.organization_id = $1::text and p.primary_email_address_key = sort_key($4::text)
				and lower(p.primary_email_address) = lower($4::text)
		)`,
		[organizationId, id, name, email, kind],
	);
	if (rowCount === 0) return [];
	return [
		{
			kind: "people",
			id,
			name,
			fields: {
				full_name: { after: name },
				primary_email_address: { after: email },
				kind: { after: kind },
			},
			organizationId,
		},
	];
}

/** SQL that is true if the person `p` of an organization belongs to the user `u`. */
export const personOf = (p: string, u: string, organization: string) =>
	`${p}.organization_id = ${organization}
		and ${p}.primary_email_address_key = sort_key(${u}.email)
		and lower(${p}.primary_email_address) = lower(${u}.email)`;

/**
 * SQL that joins the person `p` of an organization who belongs to the user `u`. It computes the key
 * first. Behind row-level security, PostgreSQL does not look up a function of another row in an index.
 */
export const joinPersonOf = (p: string, u: string, organization: string) =>
	`cross join lateral (select sort_key(${u}.email) as key offset 0) ${p}_key
	join people ${p} on ${p}.organization_id = ${organization}
		and ${p}.primary_email_address_key = ${p}_key.key
		and lower(${p}.primary_email_address) = lower(${u}.email)`;

/** SQL for whether the person `p` of the organization $1 has the address of a member. */
export const IS_MEMBER = `p.id in (
	select of_member.id from memberships m
	join users u on u.id = m.user_id
	${joinPersonOf("of_member", "u", "$1")}
	where m.organization_id = $1 and is_live_membership(m.organization_id, m.ends_on)
)`;

/** Returns the id of the person with the user's e-mail address, if the organization has one. */
export async function findPersonOf(
	client: PoolClient,
	organizationId: string,
	userId: string | null,
): Promise<string | undefined> {
	const [first] = await findPeopleOf(client, organizationId, userId);
	return first;
}

/** Largest number of people with one address that can stand for a user. */
const MAX_PEOPLE = 20;

/**
 * Returns the ids of the people with the user's e-mail address, the oldest first. The register may
 * have several, such as one from an invitation and one from a file.
 */
export async function findPeopleOf(
	client: PoolClient,
	organizationId: string,
	userId: string | null,
): Promise<string[]> {
	const { rows } = await client.query<{ id: string }>({
		name: "people_of_user",
		text: `
			select p.id from users u
			${joinPersonOf("p", "u", "$1")}
			where u.id = $2
			order by p.created_at, p.id
			limit ${MAX_PEOPLE}`,
		values: [organizationId, userId],
	});
	return rows.map(({ id }) => id);
}
