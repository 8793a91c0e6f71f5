import type { ClientConfig } from "pg";
import { makePool } from "../db/pool.ts";

/**
 * Everything in a restored database that gives access. A backup does not contain what was revoked
 * after it was made. An operator must therefore compare these lists with what should give access
 * today.
 */
export interface Credentials {
	api_tokens: { id: string; name: string; email: string }[];
	/** Devices whose keys are valid. */
	devices: { id: string; organization: string; name: string }[];
	members: { email: string; organization: string; role: string }[];
}

/** Lists the live API tokens, device keys and memberships of all organizations. */
export async function readCredentials(
	connection: ClientConfig,
): Promise<Credentials> {
	const pool = makePool(connection, { max: 1, role: "backup" });
	try {
		const tokens = await pool.query(`
			select t.id, t.name, u.email from api_tokens t join users u on u.id = t.user_id
			where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
			order by u.email, t.id`);
		const devices = await pool.query(`
			select d.id, o.name as organization, coalesce(d.name, d.hostname, '') as name
			from devices d join organizations o on o.id = d.organization_id
			where d.status = 'ACTIVE' order by o.name, d.id`);
		const members = await pool.query(`
			select u.email, o.name as organization, m.role
			from memberships m
			join users u on u.id = m.user_id join organizations o on o.id = m.organization_id
			order by o.name, u.email`);
		return {
			api_tokens: tokens.rows,
			devices: devices.rows,
			members: members.rows,
		};
	} finally {
		await pool.end();
	}
}
