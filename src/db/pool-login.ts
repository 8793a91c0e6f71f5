import { createHmac } from "node:crypto";
import { Client, type ClientConfig, escapeLiteral } from "pg";
import { takeTurn } from "./migrate.ts";
import { roleName } from "./roles.ts";

/**
 * Login of the service's pools on the embedded server, whose owner is a superuser. A statement that
 * left its role with `reset role` would find no more rights than those of the pools.
 */
const POOL_LOGIN = "assay_service";

/** Returns the options with which the pools connect to the server of this owner. */
export function poolConnectionOf<
	Options extends ClientConfig & { password: string },
>(owner: Options): Options {
	const password = createHmac("sha256", owner.password)
		.update(POOL_LOGIN)
		.digest("base64url");
	return { ...owner, user: POOL_LOGIN, password };
}

/** Makes the login of the pools, and lets it act as the roles that the pools take. */
export async function makePoolLogin(
	owner: ClientConfig,
	{ password }: { password: string },
): Promise<void> {
	const client = new Client({ ...owner, application_name: "assay migrate" });
	await client.connect();
	try {
		await takeTurn(client);
		const { rows } = await client.query<{ exists: boolean; grants: string }>(
			`select
				exists (select from pg_roles where rolname = '${POOL_LOGIN}') as exists,
				format('grant %I, %I, %I to ${POOL_LOGIN}; grant connect on database %I to ${POOL_LOGIN}', ${roleName("app")}, ${roleName("identity")}, ${roleName("audit")}, current_database()) as grants`,
		);
		await client.query(
			`${rows[0]?.exists ? "alter" : "create"} role ${POOL_LOGIN} login password ${escapeLiteral(password)}; ${rows[0]?.grants}`,
		);
	} finally {
		await client.end();
	}
}
