import { Client, type ClientConfig } from "pg";
import { AppError } from "../errors.ts";
import { type DatabaseRole, setRole } from "./roles.ts";

/**
 * Returns the first statements of a connection. They set the role that the connection acts as
 * ("none" means the login role itself) and its settings. They are separate statements because
 * poolers reject such settings in the startup message. The role is always set, because a pooler
 * that does not reset connections may hand over one with another role.
 */
export function sessionOf(
	role: DatabaseRole | "none",
	settings: Readonly<Record<string, string | number>>,
): string {
	return [
		setRole(role),
		...Object.entries(settings).map(
			([name, value]) => `set ${name} to '${value}'`,
		),
	].join("; ");
}

/**
 * Throws a bad_request AppError when a pooler lends server connections for only one transaction or
 * statement. `setting` names the address. On such a pooler, the next borrower would inherit a role, a lock or a prepared
 * statement. An inherited role would change which rows row-level security shows.
 */
export async function assertOwnSessions(
	connection: ClientConfig,
	setting = "DATABASE_URL",
): Promise<void> {
	const one = await open(connection);
	try {
		const first = await serverOf(one);
		// A server reports its own process id when a client connects, but a pooler reports a number
		// that it made up.
		if (first === (one as Client & { processID?: number }).processID) return;
		const other = await open(connection);
		try {
			// If a pooler shares connections, this order of queries makes one client receive the other's
			// server connection. This holds whether the pooler lends the most recently returned
			// connection or the one that was returned first.
			const second = await serverOf(other);
			const isOwn =
				first !== second &&
				second === (await serverOf(other)) &&
				first === (await serverOf(one));
			if (isOwn) return;
		} finally {
			await other.end();
		}
	} finally {
		await one.end();
	}
	throw new AppError(
		"bad_request",
		`${setting} leads to a pooler that shares connections between transactions, where Assay could not keep organizations apart; set PgBouncer's pool_mode to session for this database, or connect to PostgreSQL directly`,
	);
}

async function open(connection: ClientConfig): Promise<Client> {
	const client = new Client({
		...connection,
		application_name: "assay sessions",
		connectionTimeoutMillis: 10_000,
		query_timeout: 15_000,
	});
	// When the connection is lost, a running query fails with the error. Without a listener, this
	// event would end the process.
	client.on("error", () => {});
	try {
		await client.connect();
		return client;
	} catch (error) {
		await client.end().catch(() => {});
		throw error;
	}
}

/** Returns the id of the server process that answers this connection at this moment. */
async function serverOf(client: Client): Promise<number | undefined> {
	const { rows } = await client.query<{ pid: number }>(
		"select pg_backend_pid() as pid",
	);
	return rows[0]?.pid;
}
