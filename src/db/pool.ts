import {
	type ClientBase,
	type ClientConfig,
	Pool,
	type PoolClient,
	Query,
	type QueryResult,
} from "pg";
import { AppError } from "../errors.ts";
import { sessionOf } from "./session.ts";
import {
	isReadOnlyDatabase,
	isTransactionConflict,
	READ_ONLY_TRANSACTION,
} from "./sqlstate.ts";
import { timesAsDates, timesAsText } from "./type-parsers.ts";

/** The role that the service works as. It owns no table and is bound by row-level security. */
export const APP_ROLE = "assay_app";

/** The role that better-auth works as. Only this role may read passwords and sessions. */
export const IDENTITY_ROLE = "assay_identity";

/** The role that reads the audit logs of all organizations, and nothing else. */
export const AUDIT_ROLE = "assay_audit";

const CONNECT_MS = 5_000;

/**
 * Makes a pool whose connections act as `role` from their first statement on. Times are read as
 * RFC 3339 text, or as Date where `times` says so.
 *
 * The server stops a statement after 10 s, or when it has waited 3 s for a lock. The pool gives up
 * when an answer does not arrive within 15 s (a lost packet), or when no connection can be had
 * within 5 s. The server ends a transaction that is idle for 15 s, so a process that hangs or a
 * machine that disappears does not keep its locks. Every timeout is reported as
 * `service_unavailable`.
 *
 * A server that does not accept writes (a standby, or a former primary) is never used.
 */
export function makePool(
	connection: ClientConfig,
	options: {
		max: number;
		role?: string;
		times?: "text" | "Date";
		/** The application_name of its connections. */
		name?: string;
	},
): Pool {
	const opening = {
		text: sessionOf(options.role ?? APP_ROLE, {
			statement_timeout: "10s",
			lock_timeout: "3s",
			idle_in_transaction_session_timeout: "15s",
			timezone: "UTC",
			datestyle: "ISO",
		}),
		query_timeout: CONNECT_MS,
	};
	const pool = new Pool({
		...connection,
		application_name: options.name ?? "assay",
		max: options.max,
		connectionTimeoutMillis: CONNECT_MS,
		query_timeout: 15_000,
		keepAlive: true,
		// A connection sends its next statement without waiting for the answer to the one before.
		pipeline: true,
		types: {
			getTypeParser: options.times === "Date" ? timesAsDates : timesAsText,
		},
		// The pool closes a connection for which this fails.
		onConnect: async (client) => {
			await Promise.all([client.query(opening), requireWritable(client)]);
		},
	});
	// The server closed an idle connection: the next query opens another.
	pool.on("error", () => {});
	// The server closed a connection in use: its query fails and reports that. Without a listener
	// the event would end the process.
	pool.on("connect", (client) => client.on("error", () => {}));
	return pool;
}

/**
 * Throws the error that a write would get from a server that does not accept writes. A standby
 * answers reads too, but late: it would still accept a key that was revoked a moment ago.
 */
async function requireWritable(client: ClientBase): Promise<void> {
	const question = {
		// Always "on" during recovery, whatever the settings say.
		text: "show transaction_read_only",
		query_timeout: CONNECT_MS,
	};
	const { rows } = await client.query<{ transaction_read_only: string }>(
		question,
	);
	if (rows[0]?.transaction_read_only === "off") return;
	throw Object.assign(new Error("the database does not accept writes"), {
		code: READ_ONLY_TRANSACTION,
	});
}

/**
 * Rejects unless the pool reaches a database that accepts writes. It then closes the connection.
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
			`the database role "${row?.role}" is not bound by row-level security; Assay must work as ${APP_ROLE}`,
		);
	}
}

/** Limits of what a transaction may see and do. */
export interface TransactionScope {
	/** The organization whose rows it sees; undefined for none. */
	organizationId?: string | undefined;
	/** The user whose own rows (API tokens, memberships) it sees too. */
	userId?: string | null | undefined;
	isReadOnly?: boolean;
	/** The application_name for the time of the transaction, as `applicationName` makes it. */
	name?: string | undefined;
}

/**
 * Runs `work` in one transaction; commits when it resolves, rolls back when it throws.
 * The statements that open the transaction are sent together with the first one of `work`. If they
 * fail, that first statement sees no organization and therefore no rows, and `transaction` rejects.
 */
export async function transaction<Result>(
	pool: Pool,
	scope: TransactionScope,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	const opening = openingOf(scope);
	const client = await pool.connect();
	const opened = sendWithNext(client, opening);
	// Awaited below. Until then a rejection must not count as unhandled.
	opened.catch(() => {});
	try {
		const result = await work(client);
		await opened;
		if (scope.isReadOnly) {
			// Nothing was written, so the caller need not wait for the commit. It is sent together with
			// the next transaction on this connection.
			sendWithNext(client, "commit").catch(() => {});
			client.release();
			return result;
		}
		const end = client.query("commit");
		// PostgreSQL answers "rollback" to the commit of a failed transaction.
		if ((await end).command !== "COMMIT") {
			throw new Error("the transaction was rolled back");
		}
		client.release();
		return result;
	} catch (error) {
		await client.query("rollback").then(
			// A server that has become a standby is of no more use: the next one may be the primary.
			() => client.release(isReadOnlyDatabase(error)),
			(reason: Error) => client.release(reason),
		);
		// If the transaction was never opened, the error inside it is only a consequence.
		await opened;
		throw error;
	}
}

const MAX_ATTEMPTS = 4;

/**
 * Does what `transaction` does, again when PostgreSQL ended it in favour of another transaction
 * (deadlock, serialization failure). The attempt left nothing behind, and the other transaction has
 * finished by now.
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
 * loop: a transaction then costs one write to the socket instead of two.
 */
function sendWithNext(client: PoolClient, text: string): Promise<QueryResult> {
	const query = new Query(text);
	const { submit } = query;
	// pg hands its connection to whatever it is given to send (see pg-cursor).
	query.submit = (connection) => {
		const { stream } = connection;
		stream.cork();
		setImmediate(() => stream.uncork());
		return submit.call(query, connection);
	};
	const { promise, resolve, reject } = Promise.withResolvers<QueryResult>();
	const done = (error: Error | null, result: QueryResult) =>
		error ? reject(error) : resolve(result);
	// The types know the callback of a text, but not that of a query.
	(
		client as unknown as { query(query: Query, callback: typeof done): void }
	).query(query, done);
	return promise;
}

/** Returns one text with two statements, which costs one answer but allows no parameters. */
function openingOf(scope: TransactionScope): string {
	const settings = [
		`set_config('assay.organization_id', '${idOrEmpty(scope.organizationId)}', true)`,
		`set_config('assay.user_id', '${idOrEmpty(scope.userId)}', true)`,
	];
	if (scope.name) {
		settings.push(
			`set_config('application_name', '${requirePlain(scope.name)}', true)`,
		);
	}
	return `begin${scope.isReadOnly ? " read only" : ""}; select ${settings.join(", ")}`;
}

function requirePlain(name: string): string {
	if (/^[\w .:-]+$/.test(name)) return name;
	throw new Error(
		"application_name may contain only letters, digits, spaces and . _ : -",
	);
}

function idOrEmpty(id: string | null | undefined): string {
	if (!id) return "";
	if (/^[\w-]{32}$/.test(id)) return id;
	throw new Error("a transaction's organization and user must be ids");
}

/** Runs `work` in a transaction that sees only the rows of `organizationId`. */
export function withTenant<Result>(
	pool: Pool,
	organizationId: string,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	return transaction(pool, { organizationId }, work);
}
