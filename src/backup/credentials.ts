import type { ClientConfig } from "pg";
import { makePool } from "../db/pool.ts";

/** Something that gives access to an organization. */
interface OfOrganization {
	id: string;
	organization_id: string;
	organization: string;
	name: string;
}

/**
 * Everything in a restored database that gives access and that an administrator can take away. A
 * credential that was revoked, removed or used after the backup was made is valid again. An
 * operator must therefore compare these lists with what should give access today.
 */
export interface Credentials {
	api_tokens: { id: string; name: string; email: string }[];
	/** Devices whose keys are valid. */
	devices: OfOrganization[];
	/** Devices for which a token exists that enrolls them. */
	enrollment_tokens: OfOrganization[];
	enrollment_keys: OfOrganization[];
	scim_credentials: OfOrganization[];
	/** Open invitations. The name is the address. */
	invitations: OfOrganization[];
	/** Identity providers of organizations that are in use. */
	identity_providers: OfOrganization[];
	/** Verified domains of organizations. Their provider vouches for all addresses in them. */
	domains: OfOrganization[];
	members: { email: string; organization: string; role: string }[];
}

/** Reads rows of a table of an organization, which is called `t` in `name` and `condition`. */
const ofOrganization = (table: string, name: string, condition: string) => `
	select t.id, t.organization_id, o.name as organization, ${name} as name
	from ${table} t join organizations o on o.id = t.organization_id
	where ${condition} order by o.name, t.organization_id, t.id`;

const IS_OPEN = "t.revoked_at is null and t.expires_at > now()";

/** The statement of each list. A test finds tables with secrets that no list has. */
export const CREDENTIAL_LISTS: Readonly<Record<keyof Credentials, string>> = {
	api_tokens: `
		select t.id, t.name, u.email
		from api_tokens t join users u on u.id = t.user_id
		where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
		order by u.email, t.id`,
	devices: ofOrganization(
		"devices",
		"coalesce(t.name, t.hostname, '')",
		"t.status <> 'REVOKED' and t.key_hash is not null",
	),
	enrollment_tokens: `
		select d.id, t.organization_id, o.name as organization,
			coalesce(d.name, d.hostname, t.name) as name
		from enrollment_tokens t
		join devices d on d.organization_id = t.organization_id and d.id = t.device_id
		join organizations o on o.id = t.organization_id
		where ${IS_OPEN} and d.status <> 'REVOKED'
		order by o.name, t.organization_id, d.id`,
	enrollment_keys: ofOrganization("enrollment_keys", "t.name", IS_OPEN),
	scim_credentials: ofOrganization("scim_credentials", "t.name", IS_OPEN),
	invitations: ofOrganization(
		"invitations",
		"t.email",
		`${IS_OPEN} and t.accepted_at is null`,
	),
	identity_providers: ofOrganization(
		"identity_providers",
		"t.name",
		"t.is_enabled",
	),
	domains: ofOrganization(
		"organization_domains",
		"t.domain",
		"t.verified_at is not null",
	),
	members: `
		select u.email, o.name as organization, m.role
		from memberships m
		join users u on u.id = m.user_id join organizations o on o.id = m.organization_id
		order by o.name, u.email`,
};

/** Lists what gives access in all organizations. */
export async function readCredentials(
	connection: ClientConfig,
): Promise<Credentials> {
	const pool = makePool(connection, { max: 1, role: "backup" });
	try {
		const lists: [string, unknown[]][] = [];
		for (const [name, statement] of Object.entries(CREDENTIAL_LISTS)) {
			lists.push([name, (await pool.query(statement)).rows]);
		}
		// CREDENTIAL_LISTS has a statement for each list, by its name.
		return Object.fromEntries(lists) as unknown as Credentials;
	} finally {
		await pool.end();
	}
}
