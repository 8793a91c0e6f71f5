import type { Duplex } from "node:stream";
import { type ClientBase, type ClientConfig, Pool, type PoolClient } from "pg";
import { AppError } from "../errors.ts";
import { sessionOf } from "./session.ts";
import { isReadOnlyDatabase, READ_ONLY_TRANSACTION } from "./sqlstate.ts";
import { timesAsDates, timesAsText } from "./type-parsers.ts";

/** The role the service works as: it owns no table and is bound by row-level security. */
export const APP_ROLE = "assay_app";

/** The role that better-auth works as, which alone may read passwords and sessions. */
export const IDENTITY_ROLE = "assay_identity";

/** The role that reads the audit logs of all organizations, and nothing else. */
export const AUDIT_ROLE = "assay_audit";

const CONNECT_MS = 5_000;

/**
 * A pool whose connections act as `role` from their first statement on. A statement
 * that takes longer than 10 s or waits 3 s for a lock is stopped, one whose answer does not come within 15 s
 * (the network ate it) and a connection that cannot be had within 5 s are given up. A transaction in which
 * nothing is asked for 15 s is ended by the server, so that a process that was stopped in one, or the machine
 * of which is gone, keeps its locks no longer. All surface as "service_unavailable". Times are read as RFC 3339 text unless asked for as Date.
 * A server that only reads (a standby, a primary of before) gets no place in it.
 */
export function makePool(
	connection: ClientConfig,
	options: {
		max: number;
		role?: string;
		times?: "text" | "Date";
		/** What its connections are called in the database. */
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
		// Statements of one connection are sent without waiting for the one before.
		pipeline: true,
		types: {
			getTypeParser: options.times === "Date" ? timesAsDates : timesAsText,
		},
		// A connection for which it fails is closed and never used.
		onConnect: async (client) => {
			await Promise.all([client.query(opening), refuseReadOnly(client)]);
		},
	});
	// An idle connection that the server closed: the next query opens another.
	pool.on("error", () => {});
	// One in use: its query fails and says so; unheard, the event would end the process.
	pool.on("connect", (client) => client.on("error", () => {}));
	return pool;
}

/**
 * Throws what a write would be answered. A standby also answers reads, with what was true a while ago:
 * a key that was revoked meanwhile would still open the door.
 */
async function refuseReadOnly(client: ClientBase): Promise<void> {
	const question = {
		// On in recovery as well, whatever the settings are.
		text: "show transaction_read_only",
		query_timeout: CONNECT_MS,
	};
	const { rows } = await client.query<{ transaction_read_only: string }>(
		question,
	);
	if (rows[0]?.transaction_read_only === "off") return;
	throw Object.assign(new Error("the database only reads"), {
		code: READ_ONLY_TRANSACTION,
	});
}

/** Rejects unless the pool leads to a database that takes writes; a connection to another is thrown away. */
export async function assertTakesWrites(pool: Pool): Promise<void> {
	const client = await pool.connect();
	try {
		await refuseReadOnly(client);
		client.release();
	} catch (error) {
		client.release(true);
		throw error;
	}
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

/** What a transaction may see and do. */
export interface TransactionScope {
	/** The organization whose rows it sees; undefined: none. */
	organizationId?: string | undefined;
	/** The user whose own things (API tokens, memberships) it sees as well. */
	userId?: string | null | undefined;
	isReadOnly?: boolean;
	/** What the database calls the connection meanwhile, from `applicationName`. */
	name?: string | undefined;
}

/**
 * Runs `work` in one transaction; commits when it resolves, rolls back when it throws.
 * The statements that open it travel together with the first one of `work`: should they
 * fail, that one sees no tenant and so no rows, and the whole fails.
 */
export async function transaction<Result>(
	pool: Pool,
	scope: TransactionScope,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	const opening = openingOf(scope);
	const client = await pool.connect();
	sendTogether(client);
	const opened = client.query(opening);
	// Looked at below; a rejection in the meantime is no unhandled one.
	opened.catch(() => {});
	try {
		const result = await work(client);
		await opened;
		if (scope.isReadOnly) {
			// Nothing was written: whether it commits is of no interest to the caller, and the
			// next transaction on this connection may travel along.
			sendTogether(client);
			client.query("commit").catch(() => {});
			client.release();
			return result;
		}
		const end = client.query("commit");
		// PostgreSQL "commits" a failed transaction by rolling it back.
		if ((await end).command !== "COMMIT") {
			throw new Error("the transaction was rolled back");
		}
		client.release();
		return result;
	} catch (error) {
		await client.query("rollback").then(
			// Of a server that has become a standby nothing more is to be had: the next may be the primary.
			() => client.release(isReadOnlyDatabase(error)),
			(reason: Error) => client.release(reason),
		);
		// If it was not even opened, what went wrong inside is only a consequence.
		await opened;
		throw error;
	}
}

/** All that `client` is given in this turn goes to the database as one packet. */
function sendTogether(client: PoolClient): void {
	const { stream } = (client as PoolClient & { connection: { stream: Duplex } })
		.connection;
	stream.cork();
	setImmediate(() => stream.uncork());
}

/** One text of two statements, which costs one answer: hence no parameters. */
function openingOf(scope: TransactionScope): string {
	const settings = [
		`set_config('assay.organization_id', '${idOrNone(scope.organizationId)}', true)`,
		`set_config('assay.user_id', '${idOrNone(scope.userId)}', true)`,
	];
	if (scope.name) {
		settings.push(
			`set_config('application_name', '${plain(scope.name)}', true)`,
		);
	}
	return `begin${scope.isReadOnly ? " read only" : ""}; select ${settings.join(", ")}`;
}

function plain(name: string): string {
	if (!/^[\w .:-]+$/.test(name)) throw new Error("a name has no other signs");
	return name;
}

function idOrNone(id: string | null | undefined): string {
	if (!id) return "";
	if (!/^[\w-]{32}$/.test(id)) throw new Error("a scope has ids alone");
	return id;
}

/** A transaction that sees the rows of `organizationId` alone. */
export function withTenant<Result>(
	pool: Pool,
	organizationId: string,
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	return transaction(pool, { organizationId }, work);
}
