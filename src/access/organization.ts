import type { Pool, PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { makeOrganizationId, parseId } from "../id.ts";

/** Makes an organization; gives its id. */
export async function createOrganization(
	pool: Pool,
	name: string,
): Promise<string> {
	const id = makeOrganizationId();
	await withTenant(pool, id, (client) =>
		client.query("insert into organizations (id, name) values ($1, $2)", [
			id,
			name,
		]),
	);
	return id;
}

/** Throws not_found unless the organization of the client's transaction exists. */
export async function requireOrganization(
	client: PoolClient,
	id: string,
): Promise<void> {
	const { rowCount } = await client.query(
		"select from organizations where id = $1",
		[id],
	);
	if (rowCount === 0) {
		throw new AppError("not_found", `there is no organization ${id}`);
	}
}

/** Throws bad_request when `text` is no organization id. */
export function parseOrganizationId(text: string): string {
	if (parseId(text)?.kind !== "organization") {
		throw new AppError(
			"bad_request",
			`"${text}" is no organization id; \`assay org create\` prints one (32 characters)`,
		);
	}
	return text;
}
