import { Client, type ClientConfig } from "pg";
import { AppError } from "../errors.ts";

/**
 * What a connection is told before anything else: as whom it acts ("none": who has logged in) and
 * its settings. By a statement and not in the startup message, which poolers refuse; and the role
 * always, as a pooler that does not clean up may hand on a connection with somebody else's.
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
 * Refuses a pooler that lends a server's connection for a transaction or a statement: bad_request
 * AppError. A role, a lock, a prepared statement would be left to whoever has it next, and with the
 * role of another what row-level security shows.
 */
export async function assertOwnSessions(
	connection: ClientConfig,
): Promise<void> {
	const one = await open(connection);
	try {
		const first = await serverOf(one);
		// A server tells its process at connecting; a pooler makes up a number of its own.
		if (first === (one as Client & { processID?: number }).processID) return;
		const other = await open(connection);
		try {
			// In this order somebody gets another's, whether the pooler lends what came back last or first.
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
	// A query under way fails by itself; unheard, the event would end the process.
	client.on("error", () => {});
	try {
		await client.connect();
		return client;
	} catch (error) {
		await client.end().catch(() => {});
		throw error;
	}
}

/** The server's process behind a connection at this moment. */
async function serverOf(client: Client): Promise<number | undefined> {
	const { rows } = await client.query<{ pid: number }>(
		"select pg_backend_pid() as pid",
	);
	return rows[0]?.pid;
}
