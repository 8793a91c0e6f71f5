import { userInfo } from "node:os";
import type { z } from "zod";
import { type Config, readConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { withTenant } from "../db/pool.ts";
import { invoke } from "../invoke.ts";
import { makeLogger } from "../log.ts";
import type { Operation } from "../operation.ts";
import { requireOrganization } from "../organizations/organization-store.ts";
import { systemPrincipal } from "../principal.ts";
import { withDatabase } from "./with-database.ts";

/** Runs an operation as every door does. The caller is the operator at the command line. */
export type Run = <Input extends z.ZodObject, Output extends z.ZodObject>(
	operation: Operation<string, Input, Output>,
	input: z.input<Input>,
) => Promise<z.output<Output>>;

/**
 * Calls `work` with a function that runs operations in the organization. Throws if the organization
 * does not exist.
 */
export function withOrganization<Result>(
	organizationId: string,
	work: (run: Run, database: Database) => Promise<Result>,
): Promise<Result> {
	const config = readConfig(process.env);
	return withDatabase(async (database) => {
		await withTenant(database.pool, organizationId, (client) =>
			requireOrganization(client, organizationId),
		);
		return work(runAsOperator(database, config, organizationId), database);
	});
}

/** Returns a function that runs operations in the organization. */
export function runAsOperator(
	{ pool }: Database,
	{ logLevel, baseUrl }: Config,
	organizationId: string,
): Run {
	const principal = {
		...systemPrincipal(organizationId),
		name: `command line, ${userInfo().username}`,
	};
	const services = { pool, log: makeLogger(logLevel), baseUrl };
	return (operation, input) => invoke(services, principal, operation, input);
}
