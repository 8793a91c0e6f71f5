import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { assertTakesWrites } from "../db/pool.ts";
import { AppError } from "../errors.ts";

/**
 * Adds the health checks. `/health/live` says that the process answers. `/health/ready` says that
 * it can work: it reaches a database that takes writes, and is not shutting down. Otherwise it is
 * 503, so that a load balancer looks elsewhere. It costs one small statement without a transaction,
 * and requests that arrive meanwhile share its answer.
 */
export function addHealth(
	app: FastifyInstance,
	pool: Pool,
	isDraining: () => boolean,
): void {
	let check: Promise<void> | undefined;

	app.get("/health/live", { config: { admits: "anyone" } }, () => ({
		status: "ok",
	}));
	app.get("/health/ready", { config: { admits: "anyone" } }, async () => {
		if (isDraining()) {
			throw new AppError("service_unavailable", "the service is shutting down");
		}
		check ??= assertTakesWrites(pool).finally(() => {
			check = undefined;
		});
		await check;
		return { status: "ok" };
	});
}
