import { type ClientConfig, Pool, type PoolClient } from "pg";
import { AppError } from "../errors.ts";

/** The role the service works as: it owns no table and is bound by row-level security. */
export const APP_ROLE = "assay_app";

/**
 * A pool whose connections act as `role` from their first statement on. A statement
 * that takes longer than 10 s is stopped, one whose answer does not come within 15 s
 * (the network ate it) and a connection that cannot be had within 5 s are given up: all
 * surface as "service_unavailable".
 */
export function makePool(
	connection: ClientConfig,
	options: { max: number; role?: string },
): Pool {
	const pool = new Pool({
		...connection,
		application_name: "assay",
		max: options.max,
		connectionTimeoutMillis: 5_000,
		query_timeout: 15_000,
		keepAlive: true,
		options: `-c role=${options.role ?? APP_ROLE} -c statement_timeout=10s -c timezone=UTC`,
	});
	// An idle connection that the server closed: the next query opens another.
	pool.on("error", () => {});
	return pool;
}

/** Refuses a connection that row-level security does not bind: bad_request AppError. */
export async function assertConfined(pool: Pool): Promise<void> {
	const { rows } = await pool.query<{
		role: string;
		bypasses: boolean;
		owns: boolean;
	}>(`
		select
			current_user as role,
			r.rolsuper or r.rolbypassrls as bypasses,
			exists (
				select from pg_class c
				join pg_namespace n on n.oid = c.relnamespace
				where n.nspname = 'public' and c.relkind in ('r', 'p') and c.relowner = r.oid
			) as owns
		from pg_roles r
		where r.rolname = current_user
	`);
	const [row] = rows;
	if (!row || row.bypasses || row.owns) {
		throw new AppError(
			"bad_request",
			`the database role "${row?.role}" is not bound by row-level security; Assay must work as ${APP_ROLE}`,
		);
	}
}

/**
 * Runs `work` in one transaction that sees only the rows of `organizationId`;
 * commits when it resolves, rolls back when it throws.
 */
export async function withTenant<Result>(
	pool: Pool,
	organizationId: string,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	const client = await pool.connect();
	let broken: Error | undefined;
	try {
		await client.query("begin");
		await client.query("select set_config('assay.organization_id', $1, true)", [
			organizationId,
		]);
		const result = await work(client);
		await client.query("commit");
		return result;
	} catch (error) {
		await client.query("rollback").catch((reason: Error) => {
			broken = reason;
		});
		throw error;
	} finally {
		client.release(broken);
	}
}
