import { createHmac } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { assertTakesWrites } from "../db/pool.ts";
import { AppError, isPoolTimeout } from "../errors.ts";

/** The header of /health/live that tells one installation from another. */
export const INSTANCE_HEADER = "x-assay-instance";

/**
 * Returns the name of an installation. All processes with the same secret have the same name, and
 * nobody can compute the secret from it.
 */
export function instanceOf(secret: string): string {
	return createHmac("sha256", secret)
		.update("instance")
		.digest("hex")
		.slice(0, 16);
}

/**
 * Rejects unless the pool reaches a database that accepts writes. Few requests wait in this pool, so
 * the database is the cause if no connection comes in time, and not the load.
 */
async function assertAnswers(pool: Pool): Promise<void> {
	try {
		await assertTakesWrites(pool);
	} catch (error) {
		throw isPoolTimeout(error)
			? new Error("timeout expired: the database gives no connection", {
					cause: error,
				})
			: error;
	}
}

/**
 * Adds the health checks. `/health/live` answers 200 as long as the process answers at all.
 * `/health/ready` answers 200 if the process reaches a database that is neither a standby nor
 * read-only, and is not shutting down. Otherwise it answers 503, so that a load balancer sends
 * requests elsewhere. A full disk is no reason for 503, because all processes share the database:
 * nobody could read any more, and no other process would accept the writes. The check costs one
 * small statement without a transaction. Requests that arrive while a check runs share its result.
 */
export function addHealth(
	app: FastifyInstance,
	pool: Pool,
	isDraining: () => boolean,
	instance: string,
): void {
	let check: Promise<void> | undefined;

	app.get(
		"/health/live",
		{ config: { admits: "anyone" } },
		async (_request, reply) => {
			reply.header(INSTANCE_HEADER, instance);
			return { status: "ok" };
		},
	);
	app.get("/health/ready", { config: { admits: "anyone" } }, async () => {
		if (isDraining()) {
			throw new AppError(
				"service_unavailable",
				"the service is shutting down; retry later",
			);
		}
		check ??= assertAnswers(pool).finally(() => {
			check = undefined;
		});
		await check;
		return { status: "ok" };
	});
}
