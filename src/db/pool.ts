import type { Duplex } from "node:stream";
import {
	Client,
	type ClientBase,
	type ClientConfig,
	Pool,
	type PoolClient,
	Query,
	type QueryConfig,
	type QueryResult,
} from "pg";
import { AppError } from "../errors.ts";
import type { DatabaseRole } from "./roles.ts";
import { sessionOf } from "./server-sessions.ts";
import {
	isReadOnlyDatabase,
	isTransactionConflict,
	READ_ONLY_TRANSACTION,
} from "./sqlstate.ts";
import { setOrganization, setUser } from "./transaction-settings.ts";
import { timesAsDates, timesAsText } from "./type-parsers.ts";

const CONNECT_MS = 5_000;

/**
 * Makes a pool whose connections act as `role` from their first statement on. Times are returned as
 * RFC 3339 text, or as Date objects if `times` is "Date".
 *
 * The server stops a statement after 10 s, or when the statement has waited 3 s for a lock. The
 * pool gives up when an answer does not arrive within 15 s (a lost packet), or when no connection
 * can be had within 5 s. The server ends a transaction that is idle for 15 s, so a process that
 * hangs or a machine that disappears does not keep its locks. Every timeout is reported as
 * `service_unavailable`.
 *
 * The pool never uses a server that does not accept writes (a standby, or a former primary), unless
 * `accept` decides otherwise.
 */
export function makePool(
	connection: ClientConfig,
	options: {
		max: number;
		/** "app", the role of the service, by default. */
		role?: DatabaseRole | "none";
		times?: "text" | "Date";
		/** Application name of the connections. */
		name?: string;
		/**
		 * Factor of all time limits, for work that nobody waits for in a browser. Above 1, a statement
		 * has one process of the server.
		 */
		timeLimitFactor?: number;
		/** Rejects on a server that the pool must not use. By default, on one that takes no writes. */
		accept?: (client: ClientBase, limitMs: number) => Promise<void>;
		/** Time after which a connection is replaced. By default, it is kept. */
		maxAgeSeconds?: number;
	},
): Pool {
	const { timeLimitFactor = 1, accept = requireWritable } = options;
	const connectMs = CONNECT_MS * timeLimitFactor;
	const seconds = (limit: number) => `${limit * timeLimitFactor}s`;
	const opening = {
		text: sessionOf(options.role ?? "app", {
			statement_timeout: seconds(10),
			lock_timeout: seconds(3),
			idle_in_transaction_session_timeout: seconds(15),
			timezone: "UTC",
			datestyle: "ISO",
			// Compiling the statement that counts a fleet took ten seconds, and running it a third of one.
			jit: "off",
			// Work that nobody waits for leaves the other cores to requests.
			...(timeLimitFactor > 1 && { max_parallel_workers_per_gather: "0" }),
		}),
		query_timeout: connectMs,
	};
	const pool = new Pool({
		...connection,
		application_name: options.name ?? "assay",
		max: options.max,
		maxLifetimeSeconds: options.maxAgeSeconds ?? 0,
		connectionTimeoutMillis: connectMs,
		query_timeout: 15_000 * timeLimitFactor,
		keepAlive: true,
		// Each connection sends its next statement without waiting for the answer to the previous one.
		pipeline: true,
		types: {
			getTypeParser: options.times === "Date" ? timesAsDates : timesAsText,
		},
		// The pool closes the new connection when this function rejects.
		onConnect: async (client) => {
			await Promise.all([client.query(opening), accept(client, connectMs)]);
		},
	});
	// The event means that the server closed an idle connection. The next query opens another one.
	pool.on("error", () => {});
	// The event means that the server closed a connection in use. The query on that connection fails
	// and reports the error. Without a listener, the event would end the process.
	pool.on("connect", (client) => client.on("error", () => {}));
	return pool;
}

/**
 * Rejects with the error that a write would get, if the server does not accept writes. A standby
 * would answer reads, but its data is old: it would still accept an API token that was revoked a
 * moment ago.
 */
async function requireWritable(
	client: ClientBase,
	limitMs = CONNECT_MS,
): Promise<void> {
	const question = {
		// During recovery, this setting is "on" for every configuration.
		text: "show transaction_read_only",
		query_timeout: limitMs,
	};
	const { rows } = await client.query<{ transaction_read_only: string }>(
		question,
	);
	if (rows[0]?.transaction_read_only === "off") return;
	throw Object.assign(
		new Error(
			"the database is a standby or read-only, so it does not accept writes",
		),
		{
			code: READ_ONLY_TRANSACTION,
		},
	);
}

/**
 * Rejects unless the pool reaches a database that accepts writes. After a failure it closes the
 * connection that it tried.
 */
export async function assertTakesWrites(pool: Pool): Promise<void> {
	const client = await pool.connect();
	try {
		await requireWritable(client);
		client.release();
	} catch (error) {
		client.release(true);
		throw error;
	}
}

/**
 * Rejects unless a new connection reaches a database that accepts writes. The pool's connections
 * still answer when the server has stopped to take new ones.
 */
export async function assertTakesConnections(pool: Pool): Promise<void> {
	const client = new Client(pool.options);
	client.on("error", () => {});
	try {
		await client.connect();
		await requireWritable(client);
	} finally {
		// Nobody waits for the goodbye, because a server that hangs does not answer it.
		client.end().catch(() => {});
	}
}

/**
 * Rejects if the disk of the database has no room for 2 MB more. A full disk still answers reads, and
 * sometimes small writes too.
 */
export async function assertHasRoom(pool: Pool): Promise<void> {
	const client = await pool.connect();
	try {
		await client.query("begin");
		// With so little memory, PostgreSQL puts the rows of the next statement into a file.
		await client.query("set local work_mem = '64kB'");
		await client.query(`
			with filler as materialized (
				select repeat('x', 8000) as text from generate_series(1, 256)
			)
			select sum(length(text)) from filler`);
		await client.query("rollback");
		client.release();
	} catch (error) {
		client.release(true);
		throw error;
	}
}

/** Throws a bad_request AppError if row-level security does not bind the pool's role. */
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
			`the database role "${row?.role}" can bypass row-level security; Assay must work as the role assay_app of its database`,
		);
	}
}

/** Limits of what a transaction may see and do. */
export interface TransactionScope {
	/**
	 * The organization whose rows the transaction sees. Without it, the transaction sees no
	 * organization's rows.
	 */
	organizationId?: string | undefined;
	/** The user whose own rows (API tokens, memberships) the transaction also sees. */
	userId?: string | null | undefined;
	isReadOnly?: boolean;
	/** Application name during the transaction, as `applicationName` makes it. */
	name?: string | undefined;
	/**
	 * Makes the last statements, after `work` has resolved. They are sent in one packet with the
	 * commit. If one of them fails, PostgreSQL rolls the transaction back.
	 */
	lastStatements?: () => readonly QueryConfig[];
}

/**
 * Runs `work` in one transaction. Commits when `work` resolves, and rolls back when it throws. The
 * statements that open the transaction are sent together with the first statement of `work`. If the
 * opening fails, that first statement sees no organization and therefore no rows, and `transaction`
 * rejects.
 */
export async function transaction<Result>(
	pool: Pool,
	scope: TransactionScope,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	const opening = openingOf(scope);
	const client = await pool.connect();
	const opened = sendWithNext(client, opening);
	// The promise is awaited below. Until then, a rejection must not be reported as unhandled.
	opened.catch(() => {});
	try {
		const result = await work(client);
		await opened;
		const last = scope.lastStatements?.() ?? [];
		if (scope.isReadOnly && last.length === 0) {
			// A read-only transaction wrote nothing, so the caller need not wait for the commit. The
			// commit is sent together with the next transaction on this connection.
			sendWithNext(client, "commit").catch(() => {});
			client.release();
			return result;
		}
		// PostgreSQL answers ROLLBACK to the commit of a failed transaction.
		if ((await commit(client, last)) !== "COMMIT") {
			throw new Error(
				"PostgreSQL rolled the transaction back, because a statement in it had failed",
			);
		}
		client.release();
		return result;
	} catch (error) {
		await client.query("rollback").then(
			// The pool discards a connection to a server that has become a standby. The next connection
			// may reach the primary.
			() => client.release(isReadOnlyDatabase(error)),
			(reason: Error) => client.release(reason),
		);
		// If the transaction could not be opened, this line throws the reason. The error of `work` is
		// only a consequence of it.
		await opened;
		throw error;
	}
}

/**
 * Sends the statements and the commit in one packet, so a write needs one round trip for all of
 * them. Returns PostgreSQL's answer to the commit. Throws the error of the first statement that
 * failed.
 */
async function commit(
	client: PoolClient,
	statements: readonly QueryConfig[],
): Promise<string> {
	let held: Duplex | undefined;
	const hold = (stream: Duplex) => {
		if (held) return;
		held = stream;
		stream.cork();
	};
	const answers = [...statements, { text: "commit" }].map((statement) =>
		send(client, statement, hold),
	);
	held?.uncork();
	const settled = await Promise.allSettled(answers);
	const failed = settled.find(({ status }) => status === "rejected");
	if (failed?.status === "rejected") throw failed.reason;
	return (await answers[answers.length - 1])?.command ?? "";
}

const MAX_ATTEMPTS = 4;

/**
 * Works like `transaction`, but tries again when PostgreSQL ended the transaction in favor of
 * another one (deadlock, serialization failure). A failed attempt leaves nothing behind, and the
 * other transaction has usually finished by then.
 */
export async function retriedTransaction<Result>(
	pool: Pool,
	scope: TransactionScope,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await transaction(pool, scope, work);
		} catch (error) {
			if (attempt === MAX_ATTEMPTS || !isTransactionConflict(error)) {
				throw error;
			}
		}
	}
}

/**
 * Sends a statement in one packet with the statements that follow it in this turn of the event
 * loop. A transaction then needs one write to the socket instead of two.
 */
function sendWithNext(client: PoolClient, text: string): Promise<QueryResult> {
	return send(client, { text }, (stream) => {
		stream.cork();
		setImmediate(() => stream.uncork());
	});
}

/** Sends a statement. `before` gets the connection's stream just before the statement is written. */
function send(
	client: PoolClient,
	statement: QueryConfig,
	before: (stream: Duplex) => void,
): Promise<QueryResult> {
	const query = new Query(statement);
	const { submit } = query;
	// pg calls `submit` of every query with the connection that it uses. pg-cursor relies on the same
	// interface.
	query.submit = (connection) => {
		before(connection.stream);
		return submit.call(query, connection);
	};
	const { promise, resolve, reject } = Promise.withResolvers<QueryResult>();
	const done = (error: Error | null, result: QueryResult) =>
		error ? reject(error) : resolve(result);
	// The types of pg declare a callback for a query given as text, but not for a Query object.
	(
		client as unknown as { query(query: Query, callback: typeof done): void }
	).query(query, done);
	return promise;
}

/**
 * Returns the opening statements as one text. PostgreSQL answers them together, but such a text
 * cannot have parameters.
 */
function openingOf(scope: TransactionScope): string {
	const settings = [
		setOrganization(scope.organizationId),
		setUser(scope.userId),
	];
	if (scope.name) {
		settings.push(`set local application_name = '${requirePlain(scope.name)}'`);
	}
	return `begin${scope.isReadOnly ? " read only" : ""}; ${settings.join("; ")}`;
}

function requirePlain(name: string): string {
	if (/^[\w .:-]+$/.test(name)) return name;
	throw new Error(
		"application_name may contain only letters, digits, spaces and . _ : -",
	);
}

/** Runs `work` in a transaction that sees only the rows of `organizationId`. */
export function withTenant<Result>(
	pool: Pool,
	organizationId: string,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	return transaction(pool, { organizationId }, work);
}
