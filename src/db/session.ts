import { Client, type ClientConfig } from "pg";
import { AppError } from "../errors.ts";

/**
 * Returns the first statements of a connection: the role that it acts as ("none" means the login
 * itself) and its settings. They are statements because poolers refuse them in the startup message.
 * The role is always set, because a pooler that does not clean up may hand on a connection with
 * another role.
 */
export function sessionOf(
	role: string,
	settings: Readonly<Record<string, string | number>>,
): string {
	return [
		`set role ${role}`,
		...Object.entries(settings).map(
			([name, value]) => `set ${name} to '${value}'`,
		),
	].join("; ");
}

/**
 * Rejects, with a bad_request AppError, a pooler that lends server connections for one transaction
 * or statement. A role, a lock or a prepared statement would be left to the next borrower, and
 * another borrower's role changes what row-level security shows.
 */
export async function assertOwnSessions(
	connection: ClientConfig,
): Promise<void> {
	const one = await open(connection);
	try {
		const first = await serverOf(one);
		// A server reports its process id on connecting; a pooler makes up a number of its own.
		if (first === (one as Client & { processID?: number }).processID) return;
		const other = await open(connection);
		try {
			// In this order one of the two receives the other's connection, whether the pooler lends the
			// last returned connection or the first.
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
		"DATABASE_URL leads to a pooler that shares connections between transactions, on which Assay could not keep organizations apart; set PgBouncer's pool_mode to session for this database, or give the address of PostgreSQL itself",
	);
}

async function open(connection: ClientConfig): Promise<Client> {
	const client = new Client({
		...connection,
		application_name: "assay sessions",
		connectionTimeoutMillis: 10_000,
		query_timeout: 15_000,
	});
	// A running query fails by itself. Without a listener the event would end the process.
	client.on("error", () => {});
	try {
		await client.connect();
		return client;
	} catch (error) {
		await client.end().catch(() => {});
		throw error;
	}
}

/** Returns the id of the server process behind a connection at this moment. */
async function serverOf(client: Client): Promise<number | undefined> {
	const { rows } = await client.query<{ pid: number }>(
		"select pg_backend_pid() as pid",
	);
	return rows[0]?.pid;
}
