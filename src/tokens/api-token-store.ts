import type { PoolClient } from "pg";
import { z } from "zod";
import { makeIdWithoutTenant } from "../id.ts";
import type { Change } from "../operation.ts";
import { OLD_TOKEN_DAYS } from "./old-token.ts";
import { type Scopes, scopesSchema } from "./scopes.ts";
import { hashSecret, makeSecret } from "./secret.ts";

/** Number of days that the statistics of a token cover. Today is one of them. */
const USAGE_DAYS = 30;
/** Number of days for which a list still shows a token after it was revoked. */
const SHOW_REVOKED_DAYS = 30;
const MAX_LISTED = 500;

const counts = { calls: z.int(), errors: z.int() };

export const apiToken = z.object({
	id: z.string(),
	name: z.string(),
	description: z.string().nullable(),
	user: z.object({ id: z.string(), name: z.string(), email: z.string() }),
	status: z.enum(["ACTIVE", "EXPIRED", "REVOKED"]),
	app: z
		.object({
			client_id: z.string(),
			connected_at: z
				.string()
				.nullable()
				.describe("null: the program has not come back yet"),
		})
		.nullable()
		.describe("The program that the user connected; null for other tokens"),
	created_at: z.string(),
	expires_at: z.string().nullable(),
	scopes: scopesSchema,
	revoked_at: z.string().nullable(),
	last_used_at: z.string().nullable(),
	last_used_client: z.string().nullable(),
	last_used_address: z.string().nullable(),
	is_old: z.boolean().describe(`Older than ${OLD_TOKEN_DAYS} days`),
	is_made_without_provider: z
		.boolean()
		.describe(
			"It reaches the organization only because it is older than the rule that only the identity provider counts; false in the list of your own tokens",
		),
	usage: z.object({
		days: z.array(z.object({ day: z.string(), ...counts })),
		tools: z.array(z.object({ tool: z.string(), ...counts })),
	}),
});

export type ApiToken = z.output<typeof apiToken>;

export interface NewApiToken {
	userId: string;
	name: string;
	description: string | null;
	/** Time at which the token expires. Null means that it never expires. */
	expiresAt: Date | null;
	/** Time at which the secret of a connected app ends. Other secrets end with their token. */
	secretEndsAt?: Date;
	scopes: Scopes;
	/** The organization whose identity provider vouched for the user in the session that makes the token. */
	signInOrganizationId?: string | undefined;
}

/** Stores a new token, in a transaction of its user. The secret is only in the returned value. */
export async function insertApiToken(
	client: PoolClient,
	given: NewApiToken,
): Promise<{ api_token: ApiToken; token: string }> {
	const id = makeIdWithoutTenant("api_token");
	const token = makeSecret("pat");
	await client.query(
		`insert into api_tokens (
			id, user_id, name, description, token_hash, expires_at, read_only, organization_ids, toolsets,
			secret_ends_at, sign_in_organization_id
		) values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7, $8, $9, $10, $11)`,
		[
			id,
			given.userId,
			given.name,
			given.description,
			hashSecret(token),
			given.expiresAt,
			given.scopes.read_only,
			given.scopes.organization_ids,
			given.scopes.toolsets,
			given.secretEndsAt ?? null,
			given.signInOrganizationId ?? null,
		],
	);
	const stored = await findApiToken(client, id);
	if (!stored)
		throw new Error("the API token cannot be read after it was stored");
	return { api_token: stored, token };
}

/**
 * Returns the tokens that the transaction may see, newest first. For a user, these are all tokens
 * of the user, with all their uses. For an organization, they are the members' tokens that reach
 * it, with their uses in that organization.
 */
export async function listTokens(
	client: PoolClient,
	of: { userId: string } | "organization",
): Promise<ApiToken[]> {
	const { rows } = await client.query<ApiToken>(
		`${select(of === "organization")}
		where (t.revoked_at is null or t.revoked_at > now() - $2 * interval '1 day')
			and ($3::text is null or t.user_id = $3)
			-- An app that never exchanged its code has no secret.
			and (a.token_id is null or a.connected_at is not null or a.code_ends_at > now())
			${of === "organization" ? "and exists (select from memberships m where m.organization_id = current_setting('assay.organization_id') and m.user_id = t.user_id) and (t.organization_ids is null or current_setting('assay.organization_id') = any (t.organization_ids)) and is_token_accepted(current_setting('assay.organization_id'), t.sign_in_organization_id, t.created_at)" : ""}
		order by t.created_at desc, t.id
		limit ${MAX_LISTED}`,
		[USAGE_DAYS, SHOW_REVOKED_DAYS, of === "organization" ? null : of.userId],
	);
	return rows;
}

/**
 * Returns a token that the transaction may see. With `isOfOrganization`, only uses in the
 * transaction's organization are included.
 */
export async function findApiToken(
	client: PoolClient,
	id: string,
	isOfOrganization = false,
): Promise<ApiToken | undefined> {
	const { rows } = await client.query<ApiToken>(
		`${select(isOfOrganization)} where t.id = $2`,
		[USAGE_DAYS, id],
	);
	return rows[0];
}

/**
 * Revokes a token that the transaction may see. Returns false if the token had already been
 * revoked.
 */
export async function markRevoked(
	client: PoolClient,
	id: string,
): Promise<boolean> {
	const { rowCount } = await client.query(
		"update api_tokens set revoked_at = now() where id = $1 and revoked_at is null",
		[id],
	);
	return rowCount === 1;
}

/**
 * Returns the audit log's descriptions of a change to a token, one for each organization that the
 * token reaches.
 */
export function tokenChanges(
	token: ApiToken,
	fields: Change["fields"],
	organizationIds: readonly string[],
): Change[] {
	return organizationIds.map((organizationId) => ({
		kind: "api_token",
		id: token.id,
		name: token.name,
		fields,
		organizationId,
	}));
}

/** Returns the fields of a new token that the audit log records. */
export function createdFields(token: ApiToken): Change["fields"] {
	return {
		name: { after: token.name },
		description: { after: token.description },
		expires_at: { after: token.expires_at },
		...(token.scopes.read_only && { read_only: { after: true } }),
		...(token.scopes.toolsets && {
			toolsets: { after: token.scopes.toolsets },
		}),
		user: { after: token.user.email },
	};
}

/**
 * Selects tokens with their uses. Row-level security shows an organization only the calls that
 * concerned it. The columns for the last use in `api_tokens` cover all organizations, so for an
 * organization the last use is taken from its own calls.
 */
function select(isOfOrganization: boolean): string {
	return `
	select t.id, t.name, t.description, t.created_at, t.expires_at, t.revoked_at,
		${isOfOrganization ? "last_use.*" : "t.last_used_at, t.last_used_client, t.last_used_address"},
		case when t.revoked_at is not null then 'REVOKED' when t.expires_at <= now() then 'EXPIRED' else 'ACTIVE' end as status,
		-- An app gets a new secret every hour.
		t.secret_ends_at is null and t.created_at < now() - interval '${OLD_TOKEN_DAYS} days' as is_old,
		${isOfOrganization ? MADE_WITHOUT_PROVIDER : "false"} as is_made_without_provider,
		case when a.token_id is not null then json_build_object(
			'client_id', a.client_id, 'connected_at', a.connected_at
		) end as app,
		json_build_object(
			'read_only', t.read_only, 'organization_ids', t.organization_ids, 'toolsets', t.toolsets
		) as scopes,
		json_build_object('id', u.id, 'name', u.name, 'email', u.email) as user,
		json_build_object('days', days.counts, 'tools', tools.counts) as usage
	from api_tokens t
	join users u on u.id = t.user_id
	left join connected_apps a on a.token_id = t.id
	${isOfOrganization ? LAST_USE : ""}
	cross join lateral (${usageBy("day", "d.name")}) days
	cross join lateral (${usageBy("tool", "d.calls desc, d.name")}) tools`;
}

const MADE_WITHOUT_PROVIDER = `exists (
			select from sign_in_rules r
			where r.organization_id = current_setting('assay.organization_id')
				and t.sign_in_organization_id is distinct from r.organization_id
		)`;

const LAST_USE = `
	left join lateral (
		select n.last_called_at as last_used_at, n.last_client as last_used_client,
			n.last_address as last_used_address
		from api_token_usage n
		where n.token_id = t.id and n.organization_id = current_setting('assay.organization_id')
		order by n.last_called_at desc nulls last limit 1
	) last_use on true`;

function usageBy(column: "day" | "tool", order: string): string {
	return `
		select coalesce(
			json_agg(json_build_object('${column}', d.name, 'calls', d.calls, 'errors', d.errors) order by ${order}),
			'[]'
		) as counts
		from (
			select n.${column} as name, sum(n.calls) as calls, sum(n.errors) as errors
			from api_token_usage n
			where n.token_id = t.id and n.day > (now() at time zone 'UTC')::date - $1::integer
			group by n.${column}
		) d`;
}
