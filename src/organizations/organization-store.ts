import type { Pool, PoolClient } from "pg";
import { appendChanges } from "../audit/log.ts";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { makeOrganizationId, parseId } from "../id.ts";
import type { Change } from "../operation.ts";
import { type Principal, systemPrincipal } from "../principal.ts";

/** Creates an organization without members and returns its id. */
export async function createOrganization(
	pool: Pool,
	name: string,
	principal: Principal = systemPrincipal(),
): Promise<string> {
	const id = makeOrganizationId();
	await withTenant(pool, id, async (client) => {
		const change = await insertOrganization(client, id, name);
		await appendChanges(client, principal, "createOrganization", id, [change]);
	});
	return id;
}

/**
 * Stores an organization. `client` must be in a transaction of that organization. Returns the audit
 * log's description of the change. `isMadeByUser` is true if a signed-in user makes the
 * organization, and not the operator of the service.
 */
export async function insertOrganization(
	client: PoolClient,
	id: string,
	name: string,
	isMadeByUser = false,
): Promise<Change> {
	await client.query(
		"insert into organizations (id, name, made_by_user) values ($1, $2, $3)",
		[id, name, isMadeByUser],
	);
	return {
		kind: "organization",
		id,
		name,
		fields: { name: { after: name } },
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
			`"${text}" is not the id of an organization, which has 32 characters; \`assay org list\` lists the organizations`,
		);
	}
	return text;
}
