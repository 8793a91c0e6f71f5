import type { PoolClient } from "pg";
import { rejectAtLimit } from "../db/enforce-limit.ts";
import { verifiedDomainsOf } from "../organizations/domains/domain-store.ts";
import { domainOf } from "../records/mail-address.ts";
import { makeIdentityId } from "../sign-in/users.ts";
import type { ScimContext } from "./client.ts";
import type { Attribute } from "./filter-sql.ts";
import { filterSql } from "./filter-sql.ts";
import { KEPT_LIMITS } from "./kept-limits.ts";
import type { ListQuery } from "./list-query.ts";
import { invalidValue, ScimError } from "./scim-error.ts";
import {
	addressOf,
	fullNameOf,
	type UserAttributes,
	writeUser,
} from "./user-resource.ts";

/** Most provisioned users of an organization. */
export const MAX_USERS = 10_000;

export interface UserRow {
	user_id: string;
	user_name: string;
	external_id: string | null;
	is_active: boolean;
	attributes: Omit<UserAttributes, "userName" | "externalId" | "active">;
	created_at: string;
	updated_at: string;
	groups?: { id: string; name: string }[] | null;
}

const COLUMNS = `u.user_id, u.user_name, u.external_id, u.is_active,
	u.attributes - '${KEPT_LIMITS}' as attributes, u.created_at, u.updated_at`;

const GROUPS = `(
	select json_agg(json_build_object('id', g.id, 'name', g.display_name) order by g.display_name_key)
	from scim_group_members m
	join scim_groups g on g.organization_id = m.organization_id and g.id = m.group_id
	where m.organization_id = u.organization_id and m.user_id = u.user_id
) as groups`;

const text = (path: string): Attribute => ({
	type: "text",
	sql: `u.attributes #>> '{${path}}'`,
});

/** The attributes that a filter of users may name. */
const ATTRIBUTES: Record<string, Attribute> = {
	id: { type: "text", sql: "u.user_id", case: "EXACT" },
	username: { type: "text", sql: "u.user_name_key", case: "LOWER" },
	externalid: { type: "text", sql: "u.external_id", case: "EXACT" },
	active: { type: "boolean", sql: "u.is_active" },
	displayname: text("displayName"),
	title: text("title"),
	"name.formatted": text("name,formatted"),
	"name.familyname": text("name,familyName"),
	"name.givenname": text("name,givenName"),
	emails: {
		type: "list",
		from: "jsonb_array_elements(coalesce(u.attributes -> 'emails', '[]')) e",
		attributes: {
			value: { type: "text", sql: "e ->> 'value'" },
			type: { type: "text", sql: "e ->> 'type'" },
			display: { type: "text", sql: "e ->> 'display'" },
			primary: {
				type: "boolean",
				sql: "coalesce((e ->> 'primary')::boolean, false)",
			},
		},
	},
	groups: {
		type: "list",
		from: `(
			select m.group_id from scim_group_members m
			where m.organization_id = u.organization_id and m.user_id = u.user_id
		) g`,
		attributes: {
			value: { type: "text", sql: "g.group_id", case: "EXACT" },
		},
	},
	"meta.resourcetype": { type: "text", sql: "'User'::text" },
	"meta.created": { type: "time", sql: "u.created_at" },
	"meta.lastmodified": { type: "time", sql: "u.updated_at" },
};

/** Returns a page of users in the order in which they were provisioned, and the number of all. */
export async function findUsers(
	client: PoolClient,
	organizationId: string,
	{ filter, startIndex, count }: ListQuery,
): Promise<{ rows: UserRow[]; total: number }> {
	const values: unknown[] = [organizationId];
	const condition = filter ? filterSql(filter, ATTRIBUTES, values) : "true";
	const where = `from scim_users u where u.organization_id = $1 and ${condition}`;
	const counted = await client.query<{ total: number }>(
		`select count(*)::integer as total ${where}`,
		values,
	);
	const total = counted.rows[0]?.total ?? 0;
	if (count === 0 || total < startIndex) return { rows: [], total };
	const { rows } = await client.query<UserRow>(
		`select ${COLUMNS}, ${GROUPS} ${where} order by u.created_at, u.user_id
		limit $${values.push(count)} offset $${values.push(startIndex - 1)}`,
		values,
	);
	return { rows, total };
}

/** Returns a user, or throws 404. A change locks the row. */
export async function readUserRow(
	{ client, organizationId }: ScimContext,
	id: string,
	lock: "" | "for update of u" = "",
): Promise<UserRow> {
	const { rows } = await client.query<UserRow>(
		`select ${COLUMNS}, ${GROUPS} from scim_users u
		where u.organization_id = $1 and u.user_id = $2 ${lock}`,
		[organizationId, id],
	);
	if (!rows[0]) throw new ScimError(404, `there is no user ${id}`);
	return rows[0];
}

export function attributesOf(
	row: UserRow,
): UserAttributes & { active: boolean } {
	return {
		userName: row.user_name,
		...(row.external_id !== null && { externalId: row.external_id }),
		...row.attributes,
		active: row.is_active,
	};
}

/** Writes a user for the client. */
export function toUser({ baseUrl }: { baseUrl: string }, row: UserRow) {
	return writeUser(
		row.user_id,
		attributesOf(row),
		(row.groups ?? []).map(({ id, name }) => ({
			value: id,
			display: name,
			$ref: `${baseUrl}/Groups/${id}`,
		})),
		{
			created: row.created_at,
			lastModified: row.updated_at,
			location: `${baseUrl}/Users/${row.user_id}`,
		},
	);
}

/** Throws invalidValue unless the user's address is in a verified domain of the organization. */
export async function requireVerifiedDomain(
	{ client, organizationId }: ScimContext,
	attributes: UserAttributes,
): Promise<void> {
	const domain = domainOf(addressOf(attributes));
	const verified = await verifiedDomainsOf(client, organizationId);
	if (verified.includes(domain)) return;
	throw invalidValue(
		`emails: ${domain} is not a verified domain of this organization; an administrator verifies it in Assay under Settings, Sign-in`,
	);
}

/**
 * Finds the account of a new user by its address, or makes one without a password. The account must
 * not be provisioned for the organization yet.
 */
export async function takeAccount(
	{ client, organizationId }: ScimContext,
	attributes: UserAttributes,
): Promise<{ id: string; name: string; isNew: boolean }> {
	await rejectAtLimit(client, {
		from: "scim_users where organization_id = $1",
		values: [organizationId],
		max: MAX_USERS,
		error: () =>
			new ScimError(
				400,
				`an organization has at most ${MAX_USERS} provisioned users`,
				"tooMany",
			),
	});
	const { rows } = await client.query<{
		user_id: string;
		name: string;
		is_new: boolean;
	}>("select * from provision_user($1, $2, $3)", [
		makeIdentityId("user"),
		addressOf(attributes),
		fullNameOf(attributes),
	]);
	const [account] = rows;
	if (!account) throw new Error("provision_user returned no row");
	const { rowCount } = await client.query(
		"select from scim_users where organization_id = $1 and user_id = $2",
		[organizationId, account.user_id],
	);
	if (rowCount) {
		throw new ScimError(
			409,
			"the address belongs to a user who is provisioned already, under another userName",
			"uniqueness",
		);
	}
	return { id: account.user_id, name: account.name, isNew: account.is_new };
}

/** Throws uniqueness if another user has the userName or the externalId. */
export async function requireUnique(
	{ client, organizationId }: ScimContext,
	{ userName, externalId }: UserAttributes,
	ownId: string | null,
): Promise<void> {
	const { rows } = await client.query<{ is_name: boolean }>(
		`select user_name_key = lower($2) as is_name from scim_users
		where organization_id = $1 and user_id is distinct from $4
			and (user_name_key = lower($2) or external_id = $3)
		limit 1`,
		[organizationId, userName, externalId ?? null, ownId],
	);
	if (!rows[0]) return;
	throw new ScimError(
		409,
		`another user has this ${rows[0].is_name ? "userName" : "externalId"}`,
		"uniqueness",
	);
}

/** Stores a user. */
export async function storeUser(
	{ client, organizationId }: ScimContext,
	userId: string,
	attributes: UserAttributes & { active: boolean },
): Promise<void> {
	const { userName, externalId, active, ...rest } = attributes;
	await client.query(
		`insert into scim_users (organization_id, user_id, user_name, external_id, is_active, attributes)
		values ($1, $2, $3, $4, $5, $6)
		on conflict (organization_id, user_id) do update set
			user_name = excluded.user_name, external_id = excluded.external_id,
			is_active = excluded.is_active, updated_at = now(),
			attributes = excluded.attributes || case
				when scim_users.attributes ? '${KEPT_LIMITS}'
				then jsonb_build_object('${KEPT_LIMITS}', scim_users.attributes -> '${KEPT_LIMITS}')
				else '{}'
			end`,
		[
			organizationId,
			userId,
			userName,
			externalId ?? null,
			active,
			JSON.stringify(rest),
		],
	);
}
