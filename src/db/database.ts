import { Client, type ClientConfig, type Pool } from "pg";
import type { Config } from "../config/config.ts";
import { AppError, isDatabaseUnavailable } from "../errors.ts";
import { POOL_SIZES } from "./connections.ts";
import { openEmbeddedPostgres } from "./embedded.ts";
import { migrate, readMigrations, type TellStep } from "./migrate.ts";
import { requireDatabase } from "./missing-database.ts";
import { assertConfined, makePool } from "./pool.ts";
import { makePoolLogin, poolConnectionOf } from "./pool-login.ts";
import { connectionTo, placeOf } from "./postgres-tls.ts";
import { assertOwnSessions } from "./server-sessions.ts";

/**
 * A PostgreSQL server that Assay connects to as the owner of the database: either the server in
 * DATABASE_URL or the embedded one.
 */
export interface Server {
	connection: ClientConfig;
	/** How the service's pools connect. On the embedded server they have a login of their own. */
	poolConnection: ClientConfig;
	/** Makes the login of the pools. The database must have its roles. */
	makePoolLogin: () => Promise<void>;
	/** Text that tells the operator where the data is. */
	description: string;
	/** Lets the embedded server store its changed pages, so that it stops faster afterwards. */
	checkpoint: () => Promise<void>;
	close: () => Promise<void>;
}

/** Longest time, in milliseconds, that a checkpoint may delay a stop. */
const CHECKPOINT_MS = 10_000;

/**
 * Opens the configured server. Throws a bad_request AppError when DATABASE_URL leads to a pooler
 * that Assay cannot work with.
 */
export async function openServer(
	config: Config,
	tell?: TellStep,
): Promise<Server> {
	if (config.databaseUrl) {
		const connection = connectionTo(config.databaseUrl);
		tell?.(`connecting to ${placeOf(config.databaseUrl)}`);
		await assertOwnSessions(connection);
		return {
			connection,
			poolConnection: connection,
			makePoolLogin: async () => {},
			description: "the PostgreSQL named in DATABASE_URL",
			checkpoint: async () => {},
			close: async () => {},
		};
	}
	const embedded = await openEmbeddedPostgres(config.dataDir, { tell });
	const { connection } = embedded;
	const poolConnection = poolConnectionOf(connection);
	return {
		connection,
		poolConnection,
		makePoolLogin: () => makePoolLogin(connection, poolConnection),
		description: `embedded PostgreSQL in ${embedded.directory}`,
		checkpoint: () => checkpoint(connection),
		close: () => embedded.close(),
	};
}

async function checkpoint(connection: ClientConfig): Promise<void> {
	const client = new Client({
		...connection,
		application_name: "assay checkpoint",
		statement_timeout: CHECKPOINT_MS,
		connectionTimeoutMillis: CHECKPOINT_MS,
	});
	client.on("error", () => {});
	try {
		await client.connect();
		await client.query("checkpoint");
	} catch {
		// PostgreSQL makes a checkpoint whenever it stops.
	} finally {
		await client.end().catch(() => {});
	}
}

export interface Database {
	pool: Pool;
	/**
	 * A pool that only devices use, so that a crowd of people and AI clients cannot hold up the
	 * devices. It works like `pool` and connects on first use.
	 */
	devicePool: Pool;
	/**
	 * A pool that acts as assay_identity, the role that keeps users, passwords and sessions. It
	 * connects on first use.
	 */
	identityPool: Pool;
	/**
	 * A pool that acts as assay_audit, the role that reads the audit log of every organization. It
	 * connects on first use. Only commands use it.
	 */
	auditPool: Pool;
	/** How the pools connect, for code that makes a pool of its own. */
	poolConnection: ClientConfig;
	/** Connects as the owner of the tables, for code that changes the tables. */
	ownerConnection: ClientConfig;
	description: string;
	/** Names of the migrations that were applied when the database was opened. */
	migrated: string[];
	/** Time that they took, in milliseconds. */
	migratedInMs: number;
	/** Makes closing faster. Everything else continues meanwhile. Never rejects. */
	prepareClose: () => Promise<void>;
	/** Closes every pool and the server. A second call waits until the first call has finished. */
	close: () => Promise<void>;
}

interface Opening {
	/** With "refuse", no database yet is a bad_request AppError. The default is "make". */
	whenMissing?: "refuse" | "make";
	/** The server, if the caller has already begun to open it. */
	server?: Promise<Server> | undefined;
	/** Factor of the time limits of `pool`, as in `makePool`. */
	timeLimitFactor?: number;
	/** Gets each step. */
	tell?: TellStep | undefined;
}

/**
 * Opens the database, migrates it, and returns its connection pools. Row-level security binds every
 * pool.
 */
export async function openDatabase(
	config: Config,
	{
		whenMissing = "make",
		server: opening,
		timeLimitFactor = 1,
		tell,
	}: Opening = {},
): Promise<Database> {
	if (whenMissing === "refuse") requireDatabase(config);
	const server = await (opening ?? openServer(config, tell));
	try {
		const startedAt = performance.now();
		const migrated = await migrate(
			server.connection,
			readMigrations(),
			whenMissing,
			tell,
		);
		const migratedInMs = performance.now() - startedAt;
		await server.makePoolLogin();
		const { poolConnection } = server;
		const pool = makePool(poolConnection, {
			max: POOL_SIZES.app,
			timeLimitFactor,
		});
		await assertConfined(pool);
		await pool.query("select ensure_posture_report_partitions()");
		const devicePool = makePool(poolConnection, {
			max: POOL_SIZES.devices,
			name: "assay devices",
		});
		const identityPool = makePool(poolConnection, {
			max: POOL_SIZES.identity,
			role: "identity",
			name: "assay identity",
			times: "Date",
		});
		const auditPool = makePool(poolConnection, {
			max: 1,
			role: "audit",
			name: "assay audit",
		});
		const close = async () => {
			await pool.end();
			await devicePool.end();
			await identityPool.end();
			await auditPool.end();
			await server.close();
		};
		let closing: Promise<void> | undefined;
		return {
			pool,
			devicePool,
			identityPool,
			auditPool,
			poolConnection,
			ownerConnection: server.connection,
			description: server.description,
			migrated,
			migratedInMs,
			prepareClose: () => server.checkpoint(),
			close: () => {
				closing ??= close();
				return closing;
			},
		};
	} catch (error) {
		await server.close();
		throw config.databaseUrl ? error : explainSlow(error, server.description);
	}
}

/** Explains that the embedded server is slow. Nothing but this machine can be the cause. */
function explainSlow(error: unknown, description: string): unknown {
	if (error instanceof AppError || !isDatabaseUnavailable(error)) return error;
	const { message } = error as Error;
	if (!/timeout/i.test(message)) return error;
	return new AppError(
		"service_unavailable",
		`the ${description} does not answer in time (${message}); this machine or its disk is too busy; try again when there is less to do`,
		{ cause: error },
	);
}
