import type { PoolClient } from "pg";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { WAYS_DAYS } from "./days.ts";
import {
	COLUMNS,
	listProtected,
	MEMBERS,
	type MemberRow,
	member,
	toMember,
	userId,
} from "./member-operations.ts";
import { findPersonOf } from "./person-of-member.ts";

const WAYS = ["PASSWORD", "PASSKEY", "PROVIDER"] as const;

/**
 * Everything that an administrator may know of a member. A user may belong to other organizations,
 * so it comes only from what this organization holds: the membership, its own audit log, the API
 * tokens that reach it, and its register of people.
 */
export const getMember = defineOperation({
	name: "getMember",
	title: "Get a member",
	description:
		"Read a membership, when and how the member signed in lately, the member's person, and how many API tokens reach the organization.",
	toolset: "members",
	access: "admin",
	surface: "console",
	isReadOnly: true,
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId(), user_id: userId }),
	output: z.object({
		member,
		last_sign_in_at: z
			.string()
			.nullable()
			.describe("By the audit log of this organization"),
		sign_in_ways: z
			.array(z.enum(WAYS))
			.describe(`Ways of the sign-ins of the last ${WAYS_DAYS} days`),
		api_tokens: z.int().describe("Active API tokens that reach it"),
		person: z.object({ id: z.string(), name: z.string() }).nullable(),
	}),
	run: async ({ client, membership }, { user_id }) => {
		const { organizationId: organization } = membership;
		const { rows } = await client.query<MemberRow>(
			`select ${COLUMNS} from ${MEMBERS} where t.organization_id = $1 and t.id = $2`,
			[organization, user_id],
		);
		if (!rows[0]) {
			throw new AppError(
				"not_found",
				`the user ${user_id} is not a member of this organization; listMembers returns its members`,
			);
		}
		return {
			member: toMember(rows[0], await listProtected(client)),
			...(await readSignIns(client, organization, user_id)),
			api_tokens: await countTokens(client, user_id),
			person: await readPerson(client, organization, user_id),
		};
	},
});

/** Reads the last sign-in, and the ways of the latest ones, from the audit log. */
async function readSignIns(
	client: PoolClient,
	organization: string,
	user: string,
) {
	const { rows } = await client.query<{
		last_sign_in_at: string | null;
		sign_in_ways: (typeof WAYS)[number][];
	}>({
		name: "member.sign_ins",
		text: `
			with sign_ins as (
				select e.at, case
					when e.changes ? 'provider' then 'PROVIDER'
					when e.changes #>> '{way,after}' = 'PASSKEY' then 'PASSKEY'
					else 'PASSWORD'
				end as way
				from audit_entries e
				where e.organization_id = $1 and e.actor_id = $2
					and e.operation = 'signIn' and e.outcome = 'DONE'
			)
			select max(at) as last_sign_in_at,
				coalesce(
					array_agg(distinct way) filter (where at > now() - make_interval(days => ${WAYS_DAYS})), '{}'
				) as sign_in_ways
			from sign_ins`,
		values: [organization, user],
	});
	return rows[0] ?? { last_sign_in_at: null, sign_in_ways: [] };
}

/** Counts the tokens that row-level security shows: those that reach the organization. */
async function countTokens(client: PoolClient, user: string): Promise<number> {
	const { rows } = await client.query<{ tokens: number }>({
		name: "member.tokens",
		text: `
			select count(*)::int as tokens from api_tokens t
			where t.user_id = $1 and t.revoked_at is null
				and (t.expires_at is null or t.expires_at > now())
				and (t.organization_ids is null
					or current_setting('assay.organization_id') = any (t.organization_ids))`,
		values: [user],
	});
	return rows[0]?.tokens ?? 0;
}

async function readPerson(
	client: PoolClient,
	organization: string,
	user: string,
): Promise<{ id: string; name: string } | null> {
	const id = await findPersonOf(client, organization, user);
	if (id === undefined) return null;
	const { rows } = await client.query<{ id: string; name: string }>(
		"select p.id, p.full_name as name from people p where p.organization_id = $1 and p.id = $2",
		[organization, id],
	);
	return rows[0] ?? null;
}
