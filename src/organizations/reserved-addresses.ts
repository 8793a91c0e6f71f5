import type { FieldIssue } from "../errors.ts";
import type {
	FindReserved,
	RecordUpdate,
} from "../records/reserved-updates.ts";

const WHY = {
	FORMER: "makes this person a member of the organization",
	GIVEN: "would make this person a member of the organization",
	ASKED: "gets the link to a document that this person is asked to sign",
	SIGNED: "gets the links to documents that this person signs",
};

/**
 * Finds the people whose e-mail address only an administrator may change. A member is the person
 * with the same address, so a user who could change it would sign and approve documents as somebody
 * else. A link to sign goes to the address too, and so will later links of people who have signed
 * before.
 */
export const findReservedAddresses: FindReserved = async (
	client,
	organizationId,
	updates,
) => {
	const moved = updates.filter(
		({ values }) => typeof values.primary_email_address === "string",
	);
	if (moved.length === 0) return new Map();
	const { rows } = await client.query<{ n: number; why: keyof typeof WHY }>({
		name: "people.reserved_addresses",
		text: `
			with members as materialized (
				select lower(u.email) as address from memberships m
				join users u on u.id = m.user_id
				where m.organization_id = $1
			), given as (
				select g.n::int, g.id, lower(g.former) as former, lower(g.given) as given
				from unnest($2::text[], $3::text[], $4::text[]) with ordinality g (id, former, given, n)
				where lower(g.former) <> lower(g.given)
			), found as (
				select g.n, case
					when g.former in (select address from members) then 'FORMER'
					when g.given in (select address from members) then 'GIVEN'
					when exists (
						select from document_signatures s
						where s.organization_id = $1 and s.person_id = g.id and s.state = 'REQUESTED'
					) then 'ASKED'
					when exists (
						select from document_signatures s where s.organization_id = $1 and s.person_id = g.id
					) then 'SIGNED'
				end as why
				from given g
			)
			select n, why from found where why is not null`,
		values: [
			organizationId,
			moved.map(({ before }) => before.id),
			moved.map(({ before }) => before.primary_email_address),
			moved.map(({ values }) => values.primary_email_address),
		],
	});
	return new Map(
		rows.map(({ n, why }): [RecordUpdate, FieldIssue] => [
			moved[n - 1] as RecordUpdate,
			{
				field: "primary_email_address",
				message: `${WHY[why]}, so only an administrator can change it`,
			},
		]),
	);
};
