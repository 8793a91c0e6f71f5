import type { FieldIssue } from "../errors.ts";
import type { FindRefused, Wanted } from "../records/refused-values.ts";
import type { Values } from "../records/values.ts";

/**
 * Finds the addresses that would make somebody a second person of a member. A member and a person
 * belong together by their address. With a second person, the member's work, devices and requests
 * would be spread over two records. The other person counts even if the same call gives them another
 * address, because that change may be refused. `taken` contains the members' addresses that the
 * same call has already given to somebody.
 */
export const findSecondPeople: FindRefused = async (
	client,
	organizationId,
	wanted,
	taken,
) => {
	const moved = wanted.filter(getsAnotherAddress);
	if (moved.length === 0) return new Map();
	const { rows } = await client.query<{
		n: number;
		address: string;
		id: string | null;
		name: string | null;
	}>({
		name: "people.second_of_members",
		text: `
			with members as materialized (
				select lower(u.email) as address from memberships m
				join users u on u.id = m.user_id
				where m.organization_id = $1
			)
			select distinct on (g.n) g.n::int as n, lower(g.address) as address,
				p.id, left(p.full_name, 200) as name
			from unnest($2::text[]) with ordinality g (address, n)
			cross join lateral (select sort_key(g.address) as key offset 0) k
			left join people p on p.organization_id = $1 and p.primary_email_address_key = k.key
				and lower(p.primary_email_address) = lower(g.address)
			where lower(g.address) in (select m.address from members m)
			order by g.n, p.created_at, p.id`,
		values: [
			organizationId,
			moved.map(({ values }) => values.primary_email_address),
		],
	});
	const refused = new Map<Values, FieldIssue>();
	for (const { n, address, id, name } of rows) {
		const why = id
			? `who already is the person ${name} (${id}); change that person`
			: "that an earlier person already gets; give it to only one of them";
		if (id || taken.has(address)) {
			refused.set((moved[n - 1] as Wanted).values, {
				field: "primary_email_address",
				message: `is the address of a member ${why}`,
			});
		}
		taken.add(address);
	}
	return refused;
};

function getsAnotherAddress({ before, values }: Wanted): boolean {
	const { primary_email_address: given } = values;
	const former = before?.primary_email_address;
	return (
		typeof given === "string" &&
		given.toLowerCase() !== String(former ?? "").toLowerCase()
	);
}
