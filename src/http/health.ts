import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { assertTakesWrites } from "../db/pool.ts";
import { AppError } from "../errors.ts";

/**
 * `/health/live`: the process answers. `/health/ready`: it can work, that is, it
 * reaches a database that takes writes and is not shutting down; else 503, so that a
 * load balancer looks elsewhere. It costs one small statement without a transaction; those who
 * ask while it is under way get the same answer.
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
