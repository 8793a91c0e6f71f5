import type { Pool, PoolClient } from "pg";
import { appendChanges } from "../audit/log.ts";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { ID_LENGTH, makeOrganizationId, parseId } from "../id.ts";
import type { Change } from "../operation.ts";
import { type Principal, systemPrincipal } from "../principal.ts";
import { DEFAULT_TIME_ZONE, requireTimeZone } from "./time-zone.ts";

/** Creates an organization without members and returns its id. */
export async function createOrganization(
	pool: Pool,
	name: string,
	timeZone = DEFAULT_TIME_ZONE,
	principal: Principal = systemPrincipal(),
): Promise<string> {
	const id = makeOrganizationId();
	await withTenant(pool, id, async (client) => {
		const change = await insertOrganization(client, id, { name, timeZone });
		await appendChanges(client, principal, "createOrganization", id, [change]);
	});
	return id;
}

interface NewOrganization {
	name: string;
	timeZone?: string | undefined;
	/** True if a signed-in user makes the organization, and not the operator of the service. */
	isMadeByUser?: boolean;
}

/**
 * Stores an organization. `client` must be in a transaction of that organization. Returns the audit
 * log's description of the change. Throws bad_request if PostgreSQL does not know the time zone.
 */
export async function insertOrganization(
	client: PoolClient,
	id: string,
	{ name, timeZone = DEFAULT_TIME_ZONE, isMadeByUser = false }: NewOrganization,
): Promise<Change> {
	if (timeZone !== DEFAULT_TIME_ZONE) await requireTimeZone(client, timeZone);
	await client.query(
		"insert into organizations (id, name, time_zone, made_by_user) values ($1, $2, $3, $4)",
		[id, name, timeZone, isMadeByUser],
	);
	return {
		kind: "organization",
		id,
		name,
		fields: {
			name: { after: name },
			...(timeZone !== DEFAULT_TIME_ZONE && { time_zone: { after: timeZone } }),
		},
		organizationId: id,
	};
}

/** Throws not_found unless the transaction's organization exists. */
export async function requireOrganization(
	client: PoolClient,
	id: string,
): Promise<void> {
	const { rowCount } = await client.query(
		"select from organizations where id = $1",
		[id],
	);
	if (rowCount === 0) {
		throw new AppError(
			"not_found",
			`there is no organization ${id}; \`assay org list\` lists the organizations`,
		);
	}
}

/** Returns `text` if it is the id of an organization. Throws bad_request otherwise. */
export function parseOrganizationId(text: string): string {
	if (parseId(text)?.kind !== "organization") {
		throw new AppError(
			"bad_request",
			`"${text}" is not the id of an organization, which has ${ID_LENGTH} characters; \`assay org list\` lists the organizations`,
		);
	}
	return text;
}
