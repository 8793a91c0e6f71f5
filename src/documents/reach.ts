import type { PoolClient } from "pg";
import { z } from "zod";
import type { Context } from "../operation.ts";
import { IS_MEMBER } from "../organizations/person-of-member.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { isInForce, isWanted } from "./wanted-signatures.ts";

const REACHES = ["ACCOUNT", "LINK", "SECRET", "LEFT"] as const;

export const reachSchema = z.enum(REACHES);
export type Reach = z.output<typeof reachSchema>;

/**
 * Returns SQL for how the person `p` of the organization $1 can sign the document with an id: signed
 * in (ACCOUNT), by a link (LINK), or not at all. Without an account, nobody signs after the end of the
 * contract (LEFT), and nobody sees a secret document (SECRET).
 */
export const reachIn = (documentId: string) => `case
	when ${IS_MEMBER} then 'ACCOUNT'
	when not ${IS_STAFF} then 'LEFT'
	when exists (
		select from documents d
		where d.organization_id = $1 and d.id = ${documentId} and d.classification = 'SECRET'
	) then 'SECRET'
	else 'LINK'
end`;

/** SQL for how the person `p` of the organization $1 can sign the document $2. */
export const REACH = reachIn("$2");

interface OfRequest {
	reach: Reach;
	/** When the service has mailed the link, or null. */
	link_mailed_at: string | null;
}

/**
 * Returns how the people in these requests to sign a document can sign, by the id of the request.
 */
export async function readReach(
	{ client, membership }: Context,
	documentId: string,
	signatureIds: readonly string[],
): Promise<Map<string, OfRequest>> {
	if (signatureIds.length === 0) return new Map();
	const { rows } = await client.query<OfRequest & { id: string }>(
		`select r.id, r.reach, case when r.reach = 'LINK' then (
				select max(m.sent_at) from mails m
				where m.organization_id = $1 and m.people_id = r.person_id
					and m.record_id in (r.version_id, $2) and m.kind = 'DOCUMENT'
					and m.sent_at >= r.requested_at
			) end as link_mailed_at
		from (
			select s.id, s.version_id, s.person_id, s.requested_at, ${REACH} as reach
			from document_signatures s
			join people p on p.organization_id = s.organization_id and p.id = s.person_id
			where s.organization_id = $1 and s.id = any($3)
		) r`,
		[membership.organizationId, documentId, signatureIds],
	);
	return new Map(rows.map(({ id, ...reach }) => [id, reach]));
}

/**
 * Returns the ids of the requests to sign a version whose people need a link, at most `limit`, and how
 * many there are. Those for whom nobody has copied a link come first.
 */
export async function findLinkRequests(
	{ client, membership }: Context,
	version: { id: string; document_id: string },
	limit: number,
): Promise<{ ids: string[]; total: number }> {
	const { rows } = await client.query<{ id: string; total: number }>(
		`select s.id, count(*) over ()::int as total
		from document_signatures s
		join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
		join people p on p.organization_id = s.organization_id and p.id = s.person_id
		where s.organization_id = $1 and s.version_id = $3 and s.state = 'REQUESTED'
			and ${isWanted("s", "v")} and ${REACH} = 'LINK'
		order by s.link_copied_at nulls first, s.person_name, s.id
		limit $4`,
		[membership.organizationId, version.document_id, version.id, limit],
	);
	return { ids: rows.map(({ id }) => id), total: rows[0]?.total ?? 0 };
}

/**
 * Notes that a mail for these requests to sign goes out again, so that its links work from now on.
 * Returns the version of each request, and how its person can sign.
 */
export async function noteReminders(
	client: PoolClient,
	organizationId: string,
	signatureIds: readonly string[],
): Promise<Map<string, { version_id: string; reach: Reach }>> {
	if (signatureIds.length === 0) return new Map();
	const { rows } = await client.query<{
		id: string;
		version_id: string;
		reach: Reach;
	}>(
		`update document_signatures s set reminded_at = now()
		from document_versions v, people p
		where s.organization_id = $1 and s.id = any($2) and s.state = 'REQUESTED'
			and v.organization_id = $1 and v.id = s.version_id
			and p.organization_id = $1 and p.id = s.person_id
		returning s.id, s.version_id, ${reachIn("v.document_id")} as reach`,
		[organizationId, signatureIds],
	);
	return new Map(rows.map(({ id, ...one }) => [id, one]));
}

export const reachCounts = z.object({
	account: z.int().describe("Sign in and find the version on their home page"),
	link: z.int().describe("No account: sign by a link, mailed or copied"),
	secret: z.int().describe("No account, and no link shows a secret document"),
	left: z.int().describe("No account, and the contract has ended"),
});

/**
 * Counts how these people can sign a version. Without ids, it counts those who are asked and have not
 * signed.
 */
export async function countReach(
	{ client, membership }: Context,
	version: { id: string; document_id: string },
	personIds: readonly string[] | undefined,
): Promise<z.output<typeof reachCounts>> {
	const who = personIds
		? "any($3)"
		: `any(
			select s.person_id from document_signatures s
			join document_versions v on v.organization_id = s.organization_id and v.id = s.version_id
			where s.organization_id = $1 and s.version_id = $3 and s.state = 'REQUESTED'
				and ${isInForce("v")}
		)`;
	const { rows } = await client.query<{ reach: Reach; count: number }>(
		`select r.reach, count(*)::int as count from (
			select ${REACH} as reach from people p where p.organization_id = $1 and p.id = ${who}
		) r group by r.reach`,
		[membership.organizationId, version.document_id, personIds ?? version.id],
	);
	const of = (reach: Reach) =>
		rows.find((row) => row.reach === reach)?.count ?? 0;
	return {
		account: of("ACCOUNT"),
		link: of("LINK"),
		secret: of("SECRET"),
		left: of("LEFT"),
	};
}
