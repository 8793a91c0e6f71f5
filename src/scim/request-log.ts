import type { Pool, PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";

/** Requests that are kept for an organization, and how long. */
export const KEPT_REQUESTS = 100;
const KEPT_DAYS = 30;

export interface LoggedRequest {
	credentialId: string;
	method: string;
	/** The address without ids and without the query, so that it names nobody. */
	path: string;
	status: number;
	detail: string | undefined;
}

/** Stores a request for administrators, and drops the oldest. */
export function logRequest(
	pool: Pool,
	organizationId: string,
	{ credentialId, method, path, status, detail }: LoggedRequest,
): Promise<void> {
	return withTenant(pool, organizationId, async (client) => {
		await client.query(
			`insert into scim_requests (organization_id, credential_id, method, path, status, detail)
			values ($1, $2, $3, $4, $5, $6)`,
			[
				organizationId,
				credentialId,
				method.slice(0, 10),
				path.slice(0, 200),
				status,
				detail
					?.replace(/\p{Cc}/gu, " ")
					.toWellFormed()
					.slice(0, 1000),
			],
		);
		await client.query(
			`delete from scim_requests where organization_id = $1 and (
				at < now() - interval '${KEPT_DAYS} days' or (at, id) <= (
					select at, id from scim_requests where organization_id = $1
					order by at desc, id desc offset ${KEPT_REQUESTS} limit 1
				)
			)`,
			[organizationId],
		);
	});
}

export interface RequestRow {
	id: string;
	at: string;
	credential_id: string;
	method: string;
	path: string;
	status: number;
	detail: string | null;
}

/** Returns the last requests of the transaction's organization, newest first. */
export async function readRequests(
	client: PoolClient,
	organizationId: string,
): Promise<RequestRow[]> {
	const { rows } = await client.query<RequestRow>(
		`select id::text, at, credential_id, method, path, status, detail from scim_requests
		where organization_id = $1 order by at desc, scim_requests.id desc limit ${KEPT_REQUESTS}`,
		[organizationId],
	);
	return rows;
}
